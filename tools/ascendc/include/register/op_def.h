// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// Programs use std::cout without a header of their own, as the published one brings it.
#include <iostream>

#include "register/op_def_registry.h"
