// What a shell offers for the word being typed: commands, actions, options and their values, from the tables of the
// program itself. The scripts in cmake/completion only ask `noteg --complete WORD ...` and show the lines.
#pragma once

#include <string>
#include <vector>

namespace noteg::cli {

// words: those after the program's name, the one being typed last, empty where it has not begun. One candidate per
// line, with a tab and a remark behind it where there is one; nothing where a file may follow.
[[nodiscard]] std::string completions(const std::vector<std::string>& words);

// The lists of values that several commands share (Option::values).
[[nodiscard]] std::vector<std::string> arch_values();    // ids of the GPUs known
[[nodiscard]] std::vector<std::string> kernel_values();  // auto, and the shipped kernel files
[[nodiscard]] std::vector<std::string> family_values();
[[nodiscard]] std::vector<std::string> dtype_values();  // of operands
[[nodiscard]] std::vector<std::string> layout_values();
[[nodiscard]] std::vector<std::string> l2_values();
[[nodiscard]] std::vector<std::string> format_values();    // text, json, csv
[[nodiscard]] std::vector<std::string> page_values();      // text, json
[[nodiscard]] std::vector<std::string> setting_values();   // of --set: keys of kernels and GPUs, switches with values
[[nodiscard]] std::vector<std::string> arch_set_values();  // of --set where kernels are given otherwise

}  // namespace noteg::cli
