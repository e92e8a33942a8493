#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../support/measure.hpp"
#include "../support/spin.hpp"

// C += A * B on square matrices of doubles, split into quadrants down to blocks of 64 x 64, serial
// code included. Each level has two phases of four independent products; a phase forks three of
// them.
namespace matmul {

inline constexpr std::size_t full_size = 512;
inline constexpr std::size_t quick_size = 256;
inline constexpr std::size_t leaf_size = 64;
// Not a power of two: rows 4096 bytes apart would all fall into the same few cache sets.
inline constexpr std::size_t row_stride = full_size + 8;

// Square blocks of three matrices that share the row stride.
struct product {
  double* c;
  const double* a;
  const double* b;
  std::size_t size;

  [[nodiscard]] bool is_leaf() const noexcept { return size <= leaf_size; }

  // The product of phase 0 or 1 that belongs to the quadrant (row, column) of C.
  [[nodiscard]] product part(int phase, int row, int column) const noexcept {
    const std::size_t half = size / 2;
    const auto at = [half](int r, int k) {
      return static_cast<std::size_t>(r) * half * row_stride + static_cast<std::size_t>(k) * half;
    };
    return {c + at(row, column), a + at(row, phase), b + at(phase, column), half};
  }
};

// Never inlined, so that every library runs the same instructions.
[[gnu::noinline]] inline void multiply_leaf(const product& p) noexcept {
  for (std::size_t i = 0; i < p.size; ++i) {
    double* const __restrict row_of_c = p.c + i * row_stride;
    for (std::size_t k = 0; k < p.size; ++k) {
      const double factor = p.a[i * row_stride + k];
      const double* const __restrict row_of_b = p.b + k * row_stride;
      for (std::size_t j = 0; j < p.size; ++j) row_of_c[j] += factor * row_of_b[j];
    }
  }
}

// Small integers, so that every sum is exact and the order of additions does not matter.
inline double element(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 7 + column * 13) % 17) - 8;
}

// Compares C * x with A * (B * x) for a vector x of small integers: exact, and far cheaper than the
// product.
inline bool is_product(const std::vector<double>& c, const std::vector<double>& a,
                       const std::vector<double>& b, std::size_t size) {
  const auto times = [size](const std::vector<double>& matrix, const std::vector<double>& x) {
    std::vector<double> y(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) y[i] += matrix[i * row_stride + j] * x[j];
    }
    return y;
  };
  std::vector<double> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<double>(i % 11) - 5;
  return times(c, x) == times(a, times(b, x));
}

// `multiply(product)` adds A * B to C.
template <class Multiply>
void measure(const bench::options& with, Multiply&& multiply) {
  std::vector<double> a(full_size * row_stride);
  std::vector<double> b(a.size());
  std::vector<double> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = element(i / row_stride, i % row_stride);
    b[i] = element(i % row_stride, i / row_stride);
  }
  const std::size_t size = with.quick ? quick_size : full_size;
  const auto run = [&](std::size_t n) { multiply(product{c.data(), a.data(), b.data(), n}); };
  run(size);
  if (!is_product(c, a, b, size)) bench::fail("matmul: wrong product");
  bench::measure_time(with, [&] { run(2 * leaf_size); }, [&] { run(size); });
}

}  // namespace matmul
