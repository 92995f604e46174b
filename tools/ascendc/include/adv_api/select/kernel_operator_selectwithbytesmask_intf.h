// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "lib/select/kernel_operator_selectwithbytesmask_intf.h"
