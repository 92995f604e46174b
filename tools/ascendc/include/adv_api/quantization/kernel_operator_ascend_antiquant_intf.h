// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "lib/quantization/kernel_operator_ascend_antiquant_intf.h"
