#include "kernels/families/build.hpp"

#include "kernels/families/builders.hpp"

namespace noteg::kernels {

Result<Program> build_program(const BuildRequest& request) {
  switch (request.config.family) {
    case Family::naive: return build_naive(request);
    case Family::blocked: return build_blocked(request);
    case Family::clblast: return build_clblast(request);
    case Family::simt: return build_simt(request);
    case Family::mma: return build_mma(request);
    case Family::wgmma: return build_wgmma(request);
    case Family::tcgen05: return build_tcgen05(request);
    case Family::triton: return build_triton(request);
    case Family::attention: return build_attention(request);
    case Family::flash3: return build_flash3(request);
  }
  return Diagnostic{"",
                    0,
                    0,
                    "family",
                    "naive, blocked, clblast, simt, mma, wgmma, tcgen05, triton, attention or flash3",
                    std::string(name_of(request.config.family))};
}

}  // namespace noteg::kernels
