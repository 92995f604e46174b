// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
constexpr int kHalf = 4;
constexpr int kSlots = 2 * kHalf;
