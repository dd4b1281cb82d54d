#include "sim/support/output_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace noteg {

std::string gzipped(std::string_view text) {
  constexpr int gzip_header = 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot begin to compress");
  std::string out;
  std::array<char, 1 << 16> part{};
  constexpr std::size_t most = 1 << 30;  // zlib counts in 32 bits
  int state = Z_OK;
  do {
    const std::size_t size = std::min(most, text.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
    stream.avail_in = static_cast<uInt>(size);
    text.remove_prefix(size);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(part.data());
      stream.avail_out = static_cast<uInt>(part.size());
      state = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
      out.append(part.data(), part.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!text.empty());
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  return out;
}

}  // namespace noteg
