// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "lib/transpose/kernel_operator_confusion_transpose_intf.h"
