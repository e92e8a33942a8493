// expect: associative_op
// expect: total, total
#include <vector>

#include <weft/core/parallel/reduce.hpp>

struct item {
  long cost;
};
struct total {
  total(const item& first) : cost(first.cost) {}
  long cost;
};

struct add {
  total operator()(total sum, const item& next) const {
    sum.cost += next.cost;
    return sum;
  }
#ifdef CORRECTED
  total operator()(total left, const total& right) const {
    left.cost += right.cost;
    return left;
  }
#endif
};

total sum(const std::vector<item>& items) {
  return weft::parallel_reduce(items, total(item{0}), add{});
}
