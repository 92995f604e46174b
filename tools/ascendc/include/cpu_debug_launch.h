// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// Launches with <<<>>> need no other header here, whatever the mode of the build.
#include "tikicpulib.h"
