// close.cpp: which buffers isClose takes for the same.

#include "numbers.h"

#include <cstdio>

int main() {
  const float inf = INFINITY, nan = NAN;
  struct Case {
    const char *name;
    float x[3], y[3];
  };
  const Case cases[] = {
      {"a rounding", {1, 2, 3}, {1, 2, 3.000001f}},
      {"an error", {1, 2, 3}, {1, 2, 3.001f}},
      {"infinities", {inf, -inf, 3}, {inf, -inf, 3}},
      {"NaN", {nan, 2, 3}, {nan, 2, 3}},
      {"an infinity on one side", {inf, 2, 3}, {5, 2, 3}},
      {"an infinity on the other side", {5, 2, 3}, {-inf, 2, 3}},
      {"infinities of two signs", {inf, 2, 3}, {-inf, 2, 3}},
      {"an infinity for NaN", {nan, 2, 3}, {inf, 2, 3}},
      {"an error beside an infinity", {inf, 2, 3}, {inf, 2, 3.001f}},
      {"an error beside NaN", {nan, 2, 3}, {nan, 2, 3.001f}},
  };
  for (const Case &c : cases)
    std::printf("%s: %s\n", c.name,
                isClose({"f32", 3}, c.x, c.y) ? "same" : "other");
}
