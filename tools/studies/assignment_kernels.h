// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/builder/program_builder.h"
#include "tools/studies/sort_kernels.h"

// Kernels of the label assignment SimOTA: a row for each ground truth, a column for each anchor, all in f32; for the
// vector cores of c220.
namespace vinci::studies {

inline constexpr u64 kAnchors = 25200, kChunks = 13, kColumns = kChunks * kSortTile;  // 3 (80^2 + 40^2 + 20^2), padded
inline constexpr u64 kTopRecords = 32, kTopBytes = kTopRecords * kRecordBytes;        // of a row
inline constexpr u64 kTop = 10;
inline constexpr u64 kBoxBytes = 32;  // of a ground truth: x1, y1, x2, y2, area, three that are not used

// The operations of an image, in their order.
enum class AssignOp : u8 { x1, y1, x2, y2, intersection, union_area, iou, log_iou, cost, top, dynamic_k, matched };

inline constexpr u64 kAssignOps = 12;

// Arguments: what it reads of the anchors [columns], then [rows, columns], then of the rows, and what it writes.
//   x1, y1, x2, y2      a coordinate of the anchors; boxes -> corners of what both share
//   intersection        x1, y1, x2, y2
//   union_area          areas of the anchors; intersection; boxes
//   iou                 intersection, union
//   log_iou             iou
//   cost                cost of the class, log -> class - 3 log
//   top                 iou, iota (0 .. tile - 1 in s32) -> the largest of each row as records
//   dynamic_k           records -> the sum of the largest ten, toward zero, at least 1; 32 bytes a row
//   matched             iou; records, k -> 1 where iou is one of the k largest, else 0
isa::BuiltProgram assignment_kernel(isa::Arch arch, AssignOp op, u64 rows);

}  // namespace vinci::studies
