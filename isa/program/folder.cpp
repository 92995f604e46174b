// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/program/folder.h"

#include <algorithm>

#include "isa/base/error.h"
#include "isa/table/codec.h"

namespace vinci::isa {
namespace {

constexpr usize kTries = 4;        // earlier items of the same hash that are compared
constexpr u32 kDepth = 12;         // of loops that it makes; append() adds some
constexpr u32 kLongest = 1 << 17;  // items in a turn
constexpr usize kFewestLatest = 256, kMostLatest = 1 << 16;

u64 mix(u64 h, u64 v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15;
  return h ^ h >> 29;
}

bool grows(const FieldInfo& field) { return field.kind == OperandKind::value; }

bool branches(const Row& row) {
  return std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.kind == OperandKind::label; });
}

u64 key_of(const Leaf& leaf, const u64* values) {
  u64 h = mix(u64{leaf.row->opcode} << 8 | leaf.type, u64{leaf.line} << 16 | leaf.file);
  if (leaf.registers != 0) h = mix(h, leaf.registers);
  for (usize f = 0; f < leaf.row->fields.size(); ++f) {
    if (!grows(leaf.row->fields[f]) || (leaf.registers >> f & 1) != 0) h = mix(h, values[f]);
  }
  return h;
}

}  // namespace

void Folder::clear() {
  leaves_.clear();
  values_.clear();
  items_.clear();
  latest_.clear();
  frames_.clear();
  positions_ = lone_ = 0;
  open_ = gave_up_ = false;
}

void Folder::give_up() {
  clear();
  gave_up_ = true;
}

void Folder::add(const Inst& inst, u32 line, u16 file) {
  if (gave_up_) {
    ++positions_;
    return;
  }
  while (open_) {
    if (matches(inst, line, file)) {
      ++positions_;
      go_on();
      return;
    }
    close();
  }
  Leaf leaf{.row = inst.row, .line = line, .file = file, .type = inst.type};
  std::array<u64, kMaxOperands> values;
  for (usize f = 0; f < inst.row->fields.size(); ++f) {
    values[f] = inst.operands[f].value;
    if (inst.operands[f].is_reg) leaf.registers |= 1u << f;
  }
  leaf.key = key_of(leaf, values.data());
  if (branches(*inst.row)) leaf.key = mix(leaf.key, ++lone_);  // a branch is never repeated
  push(leaf, values.data());
  const u64 positions = positions_;
  if (leaves_.size() > limit_) {
    give_up();
    positions_ = positions;
  }
}

void Folder::push(const Leaf& leaf, const u64* values) {
  items_.push_back({.hash = leaf.key, .begin = positions_, .first = static_cast<u32>(leaves_.size())});
  Leaf& added = leaves_.emplace_back(leaf);
  added.values = static_cast<u32>(values_.size());
  values_.insert(values_.end(), values, values + leaf.row->fields.size());
  ++positions_;
  arrived();
}

void Folder::push(Piece&& piece) {
  while (open_) {
    if (pass(piece)) return;
    close();
  }
  if (piece.part.turns == nullptr) return push(piece.leaves[0], piece.values.data());
  const auto first = static_cast<u32>(leaves_.size());
  for (Leaf leaf : piece.leaves) {
    leaf.values += static_cast<u32>(values_.size());
    leaves_.push_back(leaf);
  }
  values_.insert(values_.end(), piece.values.begin(), piece.values.end());
  TraceItem item{.begin = positions_, .first = first, .leaves = piece.part.leaves};
  // Others may share it: only a loop that is open, which form() has made, gets more turns.
  item.turns = std::const_pointer_cast<Turns>(std::move(piece.part.turns));
  item.hash = rehash(*item.turns, first);
  positions_ += piece.part.positions;
  items_.push_back(std::move(item));
  arrived();
}

// Whether an item continues those one and two distances before it evenly.
bool Folder::even(usize item, usize distance) const {
  if (item < 2 * distance) return false;
  const TraceItem &c = items_[item], &b = items_[item - distance], &a = items_[item - 2 * distance];
  if (c.hash != b.hash || b.hash != a.hash || c.leaves != b.leaves || b.leaves != a.leaves) return false;
  const u32 last = c.first + c.leaves - 1;
  const usize count = leaves_[last].values + leaves_[last].row->fields.size() - leaves_[c.first].values;
  const auto first = [&](const TraceItem& i) { return values_.data() + leaves_[i.first].values; };
  const u64 *x = first(a), *y = first(b), *z = first(c);
  for (usize i = 0; i < count; ++i) {
    if (z[i] - y[i] != y[i] - x[i]) return false;
  }
  return true;
}

// The last item is complete: looks for turns that end with it.
void Folder::arrived() {
  const usize n = items_.size() - 1;
  TraceItem& item = items_[n];
  if (n >= latest_.size() && latest_.size() < kMostLatest) {
    latest_.assign(std::max(kFewestLatest, 2 * latest_.size()), TraceItem::kNone);
    for (usize i = 0; i < n; ++i)
      latest(items_[i].hash) = static_cast<u32>(i);
  }
  u32& known = latest(item.hash);
  if (known < n && items_[known].hash == item.hash) item.previous = known;
  known = static_cast<u32>(n);
  usize found = 0;
  const auto add = [&](u32 distance, u32 run) {
    if (found == TraceItem::kRuns) return;
    for (usize i = 0; i < found; ++i) {
      if (item.even[i].distance == distance) return;
    }
    if (even(n, distance)) item.even[found++] = {distance, run + 1};
  };
  if (n > 0) {
    for (const TraceItem::Even& e : items_[n - 1].even) {
      if (e.distance != 0) add(e.distance, e.run);
    }
  }
  u32 earlier = item.previous;
  for (usize i = 0; i < kTries && earlier != TraceItem::kNone; ++i, earlier = items_[earlier].previous) {
    const u32 distance = static_cast<u32>(n) - earlier;
    if (distance > kLongest) break;
    add(distance, 0);
  }
  u32 best = 0;
  for (usize i = 0; i < found; ++i) {
    const auto [distance, run] = item.even[i];
    if (run >= distance && (best == 0 || distance < best)) best = distance;
  }
  if (best != 0) form(best);
}

// The last three times `distance` items are three turns of a loop.
void Folder::form(u32 distance) {
  const usize first = items_.size() - 3 * usize{distance};
  auto turns = std::make_shared<Turns>();
  for (u32 i = 0; i < distance; ++i) {
    const TraceItem& a = items_[first + i];
    // Hashes may be equal by chance.
    if (!same_item(a, items_[first + distance + i], *this) ||
        !same_item(a, items_[first + 2 * usize{distance} + i], *this))
      return;
    if (a.turns) turns->depth = std::max(turns->depth, a.turns->depth + 1);
  }
  if (turns->depth > kDepth) return;
  const u32 begin = items_[first].first;
  turns->count = 3;
  turns->leaves = items_[first + distance].first - begin;
  turns->positions = items_[first + distance].begin - items_[first].begin;
  for (u32 i = 0; i < distance; ++i) {
    const TraceItem& a = items_[first + i];
    turns->body.push_back({a.first - begin, a.leaves, a.turns ? a.turns->count * a.turns->positions : 1, a.turns});
  }
  for (u32 l = 0; l < turns->leaves; ++l) {
    turns->step_of.push_back(static_cast<u32>(turns->steps.size()));
    const Leaf &a = leaves_[begin + l], &b = leaves_[begin + turns->leaves + l];
    for (u8 f = 0; f < a.row->fields.size(); ++f) {
      if (const u64 by = values_[b.values + f] - values_[a.values + f]; by != 0) turns->steps.push_back({f, by});
    }
  }
  turns->step_of.push_back(static_cast<u32>(turns->steps.size()));

  values_.resize(leaves_[begin + turns->leaves].values);
  leaves_.resize(begin + turns->leaves);
  while (items_.size() > first) {
    const TraceItem& gone = items_.back();
    if (u32& known = latest(gone.hash); known == items_.size() - 1) known = gone.previous;
    if (items_.size() == first + 1) break;
    items_.pop_back();
  }
  TraceItem& item = items_.back();
  item = {.begin = item.begin, .first = begin, .leaves = turns->leaves};
  item.turns = std::move(turns);
  open_ = true;
  begin_turn();
}

void Folder::begin_turn() {
  const TraceItem& item = items_.back();
  frames_.clear();
  frames_.push_back({item.turns.get(), item.first, 0, item.turns->count});
  at_ = item.first;
  descend();
}

void Folder::descend() {
  while (true) {
    const Frame& f = frames_.back();
    const Turns::Part& part = f.turns->body[f.part];
    at_ = f.begin + part.first;
    if (part.turns == nullptr) return;
    frames_.push_back({part.turns.get(), at_, 0, 0});
  }
}

// The expected part was given.
void Folder::go_on() {
  while (true) {
    Frame& f = frames_.back();
    if (++f.part < f.turns->body.size()) break;
    f.part = 0;
    ++f.turn;
    if (frames_.size() == 1) {
      ++items_.back().turns->count;
      break;
    }
    if (f.turn < f.turns->count) break;
    frames_.pop_back();
  }
  descend();
}

u64 Folder::expected(u32 leaf, usize frames, usize field) const {
  u64 value = values_[leaves_[leaf].values + field];
  for (usize i = 0; i < frames; ++i) {
    const Frame& f = frames_[i];
    const u32 l = leaf - f.begin;
    for (u32 s = f.turns->step_of[l]; s < f.turns->step_of[l + 1]; ++s) {
      if (f.turns->steps[s].field == field) value += f.turn * f.turns->steps[s].by;
    }
  }
  return value;
}

bool Folder::matches(const Inst& inst, u32 line, u16 file) const {
  const Leaf& leaf = leaves_[at_];
  if (leaf.row != inst.row || leaf.line != line || leaf.type != inst.type || leaf.file != file) return false;
  const usize count = inst.row->fields.size();
  std::array<u64, kMaxOperands> values;
  std::copy_n(values_.begin() + leaf.values, count, values.begin());
  for (const Frame& f : frames_) {
    const u32 l = at_ - f.begin;
    for (u32 s = f.turns->step_of[l]; s < f.turns->step_of[l + 1]; ++s)
      values[f.turns->steps[s].field] += f.turn * f.turns->steps[s].by;
  }
  for (usize i = 0; i < count; ++i) {
    if (values[i] != inst.operands[i].value || inst.operands[i].is_reg != ((leaf.registers >> i & 1) != 0))
      return false;
  }
  return true;
}

// The same of a piece: it is passed as a whole, or not at all.
bool Folder::pass(const Piece& piece) {
  usize frame = frames_.size() - 1;  // whose present part it is compared with
  if (piece.part.turns != nullptr) {
    // The outermost loop inside that nothing of was given yet and that is alike.
    frame = frames_.size();
    for (usize f = frames_.size(); f-- > 0;) {
      const Turns::Part& part = frames_[f].turns->body[frames_[f].part];
      if (part.turns != nullptr && part.turns->count == piece.part.turns->count && part.leaves == piece.part.leaves)
        frame = f;
      if (frames_[f].part != 0 || frames_[f].turn != 0) break;
    }
    if (frame == frames_.size()) return false;
  }
  const Frame& f = frames_[frame];
  const Turns::Part& part = f.turns->body[f.part];
  const u32 first = f.begin + part.first;
  Folder other;
  other.leaves_ = piece.leaves;
  other.values_ = piece.values;
  if (part.turns != nullptr ? !same_turns(*part.turns, first, *piece.part.turns, 0, other)
                            : !same_static(first, 0, other))
    return false;
  for (u32 l = 0; l < part.leaves; ++l) {
    for (usize field = 0; field < piece.leaves[l].row->fields.size(); ++field) {
      if (expected(first + l, frame + 1, field) != piece.values[piece.leaves[l].values + field]) return false;
    }
  }
  frames_.resize(frame + 1);
  positions_ += piece.part.positions;
  go_on();
  return true;
}

Folder::Piece Folder::piece_of(const Turns::Part& part, u32 first, usize frames) const {
  Piece out{.part = part, .leaves = {}, .values = {}};
  out.part.first = 0;
  for (u32 l = first; l < first + part.leaves; ++l) {
    Leaf leaf = leaves_[l];
    leaf.values = static_cast<u32>(out.values.size());
    for (usize f = 0; f < leaf.row->fields.size(); ++f)
      out.values.push_back(expected(l, frames, f));
    out.leaves.push_back(leaf);
  }
  return out;
}

// Of the unfinished turn what the loop of a frame and those inside it have passed.
void Folder::collect(usize frame, std::vector<Piece>& out) {
  Frame& f = frames_[frame];
  const auto parts = [&](u32 until) {
    for (u32 p = 0; p < until; ++p)
      out.push_back(piece_of(f.turns->body[p], f.begin + f.turns->body[p].first, frame + 1));
  };
  const auto all = static_cast<u32>(f.turns->body.size());
  if (frame > 0 && f.turn > 0) {
    // Whole turns of an inner loop.
    constexpr u64 kFewest = 3;
    if (f.turn >= kFewest) {
      auto shorter = std::make_shared<Turns>(*f.turns);
      shorter->count = f.turn;
      out.push_back(piece_of({0, f.turns->leaves, f.turn * f.turns->positions, std::move(shorter)}, f.begin, frame));
    } else {
      const u64 turns = f.turn;
      for (f.turn = 0; f.turn < turns; ++f.turn)
        parts(all);
    }
  }
  parts(f.part);
  if (frame + 1 < frames_.size()) collect(frame + 1, out);
}

// What comes is not the next turn of the last item: what was given of a turn becomes items of their own.
void Folder::close() {
  std::vector<Piece> pieces;
  collect(0, pieces);
  TraceItem& item = items_.back();
  item.hash = rehash(*item.turns, item.first);
  u64 given = 0;
  for (const Piece& p : pieces)
    given += p.part.positions;
  positions_ -= given;
  open_ = false;
  frames_.clear();
  arrived();
  for (Piece& p : pieces)
    push(std::move(p));
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparison

bool Folder::same_static(u32 a, u32 b, const Folder& other) const {
  const Leaf &x = leaves_[a], &y = other.leaves_[b];
  if (x.row != y.row || x.line != y.line || x.file != y.file || x.type != y.type || x.registers != y.registers)
    return false;
  if (&other == this && x.key != y.key) return false;  // branches
  for (usize f = 0; f < x.row->fields.size(); ++f) {
    if ((!grows(x.row->fields[f]) || (x.registers >> f & 1) != 0) &&
        values_[x.values + f] != other.values_[y.values + f])
      return false;
  }
  return true;
}

// But for the operands of the first turns.
bool Folder::same_turns(const Turns& a, u32 first_a, const Turns& b, u32 first_b, const Folder& other) const {
  if (a.count != b.count || a.leaves != b.leaves || a.body.size() != b.body.size() || a.step_of != b.step_of ||
      !std::ranges::equal(a.steps, b.steps, [](const Turns::Step& x, const Turns::Step& y) {
        return x.field == y.field && x.by == y.by;
      }))
    return false;
  for (usize p = 0; p < a.body.size(); ++p) {
    const Turns::Part &x = a.body[p], &y = b.body[p];
    if (x.first != y.first || x.leaves != y.leaves || (x.turns == nullptr) != (y.turns == nullptr)) return false;
    if (x.turns != nullptr ? !same_turns(*x.turns, first_a + x.first, *y.turns, first_b + y.first, other)
                           : !same_static(first_a + x.first, first_b + y.first, other))
      return false;
  }
  return true;
}

bool Folder::same_item(const TraceItem& a, const TraceItem& b, const Folder& other) const {
  if ((a.turns == nullptr) != (b.turns == nullptr)) return false;
  return a.turns ? same_turns(*a.turns, a.first, *b.turns, b.first, other) : same_static(a.first, b.first, other);
}

u64 Folder::rehash(const Turns& t, u32 first) const {
  u64 h = mix(t.count, t.leaves);
  for (const Turns::Part& p : t.body)
    h = mix(h, p.turns ? rehash(*p.turns, first + p.first) : leaves_[first + p.first].key);
  for (u32 l = 0; l < t.leaves; ++l) {
    for (u32 s = t.step_of[l]; s < t.step_of[l + 1]; ++s)
      h = mix(mix(h, u64{l} << 8 | t.steps[s].field), t.steps[s].by);
  }
  return h;
}

bool Folder::same(const Folder& other) const {
  if (positions_ != other.positions_ || items_.size() != other.items_.size() || values_ != other.values_) return false;
  for (usize i = 0; i < items_.size(); ++i) {
    if (!same_item(items_[i], other.items_[i], other)) return false;
  }
  return true;
}

u64 Folder::hash() const {
  u64 h = positions_;
  for (const u64 v : values_)
    h = mix(h, v);
  for (const TraceItem& i : items_)
    h = mix(h, i.leaves);
  return h;
}

std::pair<u16, u32> Folder::line_of(u64 at) const {
  const auto above = std::ranges::upper_bound(items_, at, {}, &TraceItem::begin);
  if (above == items_.begin()) return {};
  const TraceItem& item = *std::prev(above);
  u64 left = at - item.begin;
  u32 leaf = item.first;
  for (const Turns* t = item.turns.get(); t != nullptr;) {
    left %= t->positions;
    const Turns* inner = nullptr;
    for (const Turns::Part& p : t->body) {
      if (left >= p.positions) {
        left -= p.positions;
        continue;
      }
      leaf += p.first;
      inner = p.turns.get();
      break;
    }
    t = inner;
  }
  return {leaves_[leaf].file, leaves_[leaf].line};
}

// ---------------------------------------------------------------------------------------------------------------------
// To a program

void Folder::append(const Folder& part, const std::vector<u16>& file_numbers) {
  if (part.gave_up_ && !gave_up_) {
    const u64 positions = positions_;
    give_up();
    positions_ = positions;
  }
  if (gave_up_) {
    positions_ += part.positions_;
    return;
  }
  Piece piece;
  auto unit = std::make_shared<Turns>();
  unit->count = 1;
  unit->leaves = static_cast<u32>(part.leaves_.size());
  unit->positions = part.positions_;
  piece.leaves.reserve(part.leaves_.size());
  piece.values.reserve(part.values_.size());
  unit->body.reserve(part.items_.size());
  for (Leaf leaf : part.leaves_) {
    const u32 from = leaf.values;
    leaf.values = static_cast<u32>(piece.values.size());
    leaf.file = file_numbers[leaf.file];
    for (usize f = 0; f < leaf.row->fields.size(); ++f) {
      const bool target = leaf.row->fields[f].kind == OperandKind::label;
      piece.values.push_back(part.values_[from + f] + (target ? positions_ : 0));
    }
    leaf.key = key_of(leaf, piece.values.data() + leaf.values);
    if (branches(*leaf.row)) leaf.key = mix(leaf.key, ++lone_);
    piece.leaves.push_back(leaf);
  }
  for (const TraceItem& i : part.items_) {
    unit->body.push_back({i.first, i.leaves, i.turns ? i.turns->count * i.turns->positions : 1, i.turns});
    if (i.turns) unit->depth = std::max(unit->depth, i.turns->depth + 1);
  }
  unit->step_of.assign(unit->leaves + 1, 0);
  piece.part = {0, unit->leaves, unit->positions, {}};
  piece.part.turns = std::move(unit);
  push(std::move(piece));
  const u64 positions = positions_;
  if (leaves_.size() > limit_) {
    give_up();
    positions_ = positions;
  }
}

using Around = std::vector<std::pair<const Turns*, std::pair<u32, u32>>>;  // with the first leaf, and the loop's index

void Folder::write_leaf(u32 leaf, const Around& around, Program& program, bool with_files) const {
  const Leaf& l = leaves_[leaf];
  Inst inst{.row = l.row, .type = l.type};
  for (usize f = 0; f < l.row->fields.size(); ++f)
    inst.operands[f] = {(l.registers >> f & 1) != 0, values_[l.values + f]};
  const auto stored = static_cast<u32>(program.code.size());
  program.code.push_back(encode(inst));
  program.lines.push_back(l.line);
  if (with_files) program.files.push_back(l.file);
  for (const auto& [turns, where] : around) {
    const u32 at = leaf - where.first;
    for (u32 s = turns->step_of[at]; s < turns->step_of[at + 1]; ++s)
      program.strides.push_back({stored, where.second, turns->steps[s].field, turns->steps[s].by});
  }
}

void Folder::write_turns(const Turns& turns, u32 first, Around& around, Program& program, bool with_files) const {
  const auto loop = static_cast<u32>(program.loops.size());
  const auto begin = static_cast<u32>(program.code.size());
  const bool real = turns.count > 1;
  if (real) {
    program.loops.push_back({begin, 0, static_cast<u32>(turns.count)});
    around.push_back({&turns, {first, loop}});
  }
  for (const Turns::Part& p : turns.body) {
    if (p.turns) {
      write_turns(*p.turns, first + p.first, around, program, with_files);
    } else {
      write_leaf(first + p.first, around, program, with_files);
    }
  }
  if (!real) return;
  program.loops[loop].length = static_cast<u32>(program.code.size()) - begin;
  around.pop_back();
}

void Folder::write(Program& program, bool with_files) const {
  VINCI_CHECK(!open_ && !gave_up_);
  Around around;
  for (const TraceItem& i : items_) {
    if (i.turns) {
      write_turns(*i.turns, i.first, around, program, with_files);
    } else {
      write_leaf(i.first, around, program, with_files);
    }
  }
}

}  // namespace vinci::isa
