// The parameters of CLBlast's Xgemm kernel beside its tile, under CLBlast's names (doc/tuning.md of CLBlast; kernel
// GEMMK 0). CLBlast computes column-major matrices: its M is the extent along which C lies in memory, which is N of the
// row-major problem here, so that MWG is the tile's N, NWG its M and KWG its K.
#pragma once

namespace noteg::kernels {

struct ClblastParameters {
  int mdimc = 16, ndimc = 8;        // threads of a CTA along M and N
  int mdima = 16, ndimb = 16;       // threads along M and N while A and B are copied to shared memory
  int kwi = 2;                      // k values that the inner loop unrolls
  int vwm = 1, vwn = 1;             // elements of a load along M and N
  bool strm = false, strn = false;  // a thread's vectors lie MDIMC (NDIMC) vectors apart, else side by side
  bool sa = true, sb = true;        // A, B go through shared memory

  bool operator==(const ClblastParameters&) const = default;
};

}  // namespace noteg::kernels
