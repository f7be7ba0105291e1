/* Intrinsics of AVX2 and AVX-512. Reading <immintrin.h> takes 0.2 s, so only headers that call them include this. */
#ifndef LODCORE_INTRINSICS_H
#define LODCORE_INTRINSICS_H

#include "simd.h"

#if LODCORE_HAS_SIMD
#include <immintrin.h>
#endif

#endif
