// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>

// z = x * FACTOR, on the device, by so many blocks of 256 elements.
void scale(uint32_t blocks, void* stream, uint8_t* x, uint8_t* z);
