// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// The builders of programs and task streams, as the target Vinci::builder installs them (docs/builder.md).
#include "vinci/isa/base/fault.h"
#include "vinci/isa/builder/program_builder.h"
#include "vinci/sim/task/stream_builder.h"
