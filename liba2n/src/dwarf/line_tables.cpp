// SPDX-License-Identifier: MIT
// Reads line tables of DWARF 2 to 5.
#include "line_tables.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

#include "dwarf_abbreviations.h"

namespace a2n {
namespace {

void append_to_path(std::string_view part, std::string& path) {
  if (part.empty()) return;
  if (!path.empty() && !path.ends_with('/')) path.push_back('/');
  path.append(part);
}

}  // namespace

std::optional<LineTable> LineTable::read(const DwarfSections& sections, const Owner& owner,
                                         uint64_t max_bytes, uint64_t& bytes_read) {
  LineTable table(sections, owner);
  const bool good = table.read_head(owner.offset, max_bytes);
  bytes_read = table.bytes_ + table.name_bytes_;
  if (!good) return std::nullopt;
  return table;
}

bool LineTable::read_head(uint64_t offset, uint64_t max_bytes) {
  pi::DwarfBytes in(sections_.lines, offset);
  const uint64_t length = in.length(offset_size_);
  if (!in.good() || length > in.left()) return false;
  const uint64_t end = in.at() + length;
  bytes_ = end - offset;
  in = pi::DwarfBytes(sections_.lines.substr(0, end), in.at());
  version_ = static_cast<uint16_t>(in.number(2));
  if (version_ < 2 || version_ > 5) return false;
  if (version_ == 5) in.skip(2);  // sizes of addresses and of segment numbers
  const uint64_t head = in.number(offset_size_);
  if (!in.good() || head > in.left()) return false;
  program_ = pi::DwarfBytes(sections_.lines.substr(0, end), in.at() + head);
  smallest_instruction_ = static_cast<uint8_t>(in.number(1));
  if (version_ >= 4) in.skip(1);  // maximum_operations_per_instruction
  in.skip(1);                     // default_is_stmt
  line_base_ = static_cast<int8_t>(in.number(1));
  line_range_ = static_cast<uint8_t>(in.number(1));
  const uint64_t opcodes = in.number(1);
  if (!in.good() || opcodes == 0 || line_range_ == 0) return false;
  for (uint64_t i = 1; i < opcodes; ++i) operands_.push_back(static_cast<uint8_t>(in.number(1)));
  if (version_ == 5) return read_new(in, max_bytes) && in.good();
  read_old(in);
  return in.good();
}

void LineTable::read_old(pi::DwarfBytes& in) {
  directories_.push_back({});  // directory 0 is the unit's own
  for (std::string_view name; in.good() && !(name = in.text()).empty();)
    directories_.push_back(name);
  files_.push_back({});  // files are numbered from 1
  for (std::string_view name; in.good() && !(name = in.text()).empty();) {
    files_.push_back({name, in.leb128()});
    in.leb128();  // time
    in.leb128();  // size
  }
}

bool LineTable::read_new(pi::DwarfBytes& in, uint64_t max_bytes) {
  return read_list(in, max_bytes,
                   [this](const File& entry) { directories_.push_back(entry.name); }) &&
         read_list(in, max_bytes, [this](const File& entry) { files_.push_back(entry); });
}

template <class Use>
bool LineTable::read_list(pi::DwarfBytes& in, uint64_t max_bytes, Use use) {
  std::vector<std::pair<uint64_t, uint64_t>> columns(in.number(1));
  for (auto& [content, form] : columns) {
    content = in.leb128();
    form = in.leb128();
  }
  const uint64_t count = in.leb128();
  // Columns of size 0 carry no information, and entries made only of them could be unlimited in
  // number.
  std::erase_if(columns, [](const auto& column) {
    return column.second == DW_FORM_flag_present || column.second == DW_FORM_implicit_const;
  });
  if (count != 0 && columns.empty()) return false;
  const DwarfFormat format{version_, 8, offset_size_};
  for (uint64_t i = 0; i < count && in.good(); ++i) {
    if (name_bytes_ > max_bytes) return false;
    File entry{};
    for (const auto& [content, form] : columns) {
      if (form == DW_FORM_string) {
        const std::string_view text = in.text();
        if (content == DW_LNCT_path) entry.name = text;
      } else if (form == DW_FORM_udata) {
        const uint64_t value = in.leb128();
        if (content == DW_LNCT_directory_index) entry.directory = value;
      } else if (form == DW_FORM_block) {
        in.skip(in.leb128());
      } else if (const auto size = dwarf_form_size(form, format); !size) {
        return false;  // the size is not known, so the next value cannot be found
      } else if (*size > 8) {
        in.skip(*size);
      } else {
        const uint64_t value = in.number(*size);
        if (content == DW_LNCT_directory_index) entry.directory = value;
        if (content != DW_LNCT_path) continue;
        if (form == DW_FORM_line_strp) entry.name = pi::dwarf_text(sections_.line_strings, value);
        if (form == DW_FORM_strp) entry.name = pi::dwarf_text(sections_.strings, value);
        name_bytes_ += entry.name.size();
      }
    }
    use(entry);
  }
  return in.good();
}

std::string LineTable::file(uint64_t number) const {
  if (number >= files_.size() || files_[number].name.empty()) return {};
  const File& file = files_[number];
  std::string path;
  if (!file.name.starts_with('/')) {
    const std::string_view directory =
        file.directory < directories_.size() ? directories_[file.directory] : std::string_view();
    if (!directory.starts_with('/')) append_to_path(unit_directory_, path);
    append_to_path(directory, path);
  }
  append_to_path(file.name, path);
  return path;
}

void LineTable::advance(State& state, uint64_t operations) const {
  state.address =
      pi::dwarf_address(state.address + smallest_instruction_ * operations, address_size_);
}

bool LineTable::extended(State& state) {
  const uint64_t length = program_.leb128();
  if (length == 0 || length > program_.left()) {
    program_.fail();
    return false;
  }
  const uint64_t end = program_.at() + length;
  const uint64_t opcode = program_.number(1);
  if (opcode == DW_LNE_set_address && (length == 5 || length == 9))
    state.address = program_.number(static_cast<size_t>(length - 1));
  if (opcode == DW_LNE_define_file) {
    File file{program_.text(), 0};
    file.directory = program_.leb128();
    files_.push_back(file);
  }
  if (program_.at() <= end) program_.skip(end - program_.at());
  return opcode == DW_LNE_end_sequence;
}

void LineTable::standard(uint64_t opcode, State& state) {
  switch (opcode) {
    case DW_LNS_advance_pc:
      advance(state, program_.leb128());
      break;
    case DW_LNS_advance_line:
      state.line += static_cast<uint64_t>(program_.signed_leb128());
      break;
    case DW_LNS_set_file:
      state.file = program_.leb128();
      break;
    case DW_LNS_const_add_pc:
      advance(state, (255 - operands_.size() - 1) / line_range_);
      break;
    case DW_LNS_fixed_advance_pc:
      state.address = pi::dwarf_address(state.address + program_.number(2), address_size_);
      break;
    default:
      for (uint8_t i = 0; i < operands_[opcode - 1]; ++i) program_.leb128();
  }
}

bool LineTable::for_each_sequence(uint64_t max_rows,
                                  const std::function<bool(const std::vector<LineRow>&)>& use) {
  std::vector<LineRow> rows;
  State state;
  const auto add_row = [&](uint32_t line) {
    const auto file = static_cast<uint32_t>(std::min<uint64_t>(state.file, UINT32_MAX));
    const LineRow row{state.address, file, line};
    if (!rows.empty() && rows.back().file == row.file && rows.back().line == line) return;
    rows.push_back(row);
  };
  const auto line_of = [&] {
    return state.line <= UINT32_MAX ? static_cast<uint32_t>(state.line) : 0;
  };
  while (program_.good() && program_.left() != 0) {
    if (rows.size() > max_rows) return false;
    const uint64_t opcode = program_.number(1);
    if (opcode > operands_.size()) {
      const uint64_t special = opcode - operands_.size() - 1;
      advance(state, special / line_range_);
      state.line +=
          static_cast<uint64_t>(int64_t{line_base_} + static_cast<int64_t>(special % line_range_));
      add_row(line_of());
    } else if (opcode == 0) {
      if (!extended(state)) continue;
      // Rows at the end address cover no bytes, but would claim those of the next sequence.
      while (!rows.empty() && rows.back().address >= state.address) rows.pop_back();
      if (!rows.empty()) {
        rows.push_back({state.address, 0, 0});
        if (!use(rows)) return true;
      }
      rows.clear();
      state = {};
    } else if (opcode == DW_LNS_copy) {
      add_row(line_of());
    } else {
      standard(opcode, state);
    }
  }
  return true;
}

}  // namespace a2n
