// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/coordinate.h"
#include "ascendc/matmul/matmul.h"
#include "kernel_operator.h"
