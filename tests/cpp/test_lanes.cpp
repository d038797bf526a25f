// Tests every version of the innermost loops against the plain recursion. The versions must also
// agree with each other to the last bit.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/ids.hpp"
#include "base/rng.hpp"
#include "check.hpp"
#include "rows/lanes.hpp"

namespace filbert {

namespace {

constexpr LaneWeights kWeights{0.4, 0.7, 0.16, 0.112, 0.012};
constexpr std::uint32_t kLabels = 4;  // 0 and 1 have rows, 2 is simple, 3 terminal
constexpr std::size_t kRowLength = 5;

// Children of a row and of some chunks of columns, at random.
struct Sample {
  std::vector<LaneChild> children;
  std::vector<LaneChunk> chunks;
  std::vector<LaneSlot> slots;
  std::vector<double> values;  // of the rows
  std::uint64_t bits = 0;
};

std::uint32_t place_of(std::uint32_t label, Rng& rng) {
  if (label == 3) return 0;
  return static_cast<std::uint32_t>(rng.below(label == 2 ? 3 : kRowLength));
}

void add_chunk(Sample& sample, std::size_t n_slots, bool alike, Rng& rng) {
  LaneChunk chunk{0, sample.slots.size(), n_slots};
  for (std::size_t j = 0; j < n_slots; ++j) {
    LaneSlot slot{};
    const auto common = static_cast<std::uint32_t>(rng.below(kLabels));
    for (std::size_t lane = 0; lane < kColumns; ++lane) {
      const auto own = static_cast<std::uint32_t>(rng.below(kLabels + 1));
      slot.label[lane] = alike ? common : own == kLabels ? kNone : own;
      if (slot.label[lane] == kNone) continue;
      slot.place[lane] = place_of(slot.label[lane], rng);
      slot.bits |= label_bit(slot.label[lane]);
    }
    slot.same = alike ? common : kNone;
    chunk.bits |= slot.bits;
    sample.slots.push_back(slot);
  }
  sample.chunks.push_back(chunk);
}

Sample random_sample(std::size_t n_children, Rng& rng) {
  Sample sample;
  for (std::size_t i = 0; i < n_children * kRowLength; ++i) {
    sample.values.push_back(0.1 + 0.01 * static_cast<double>(rng.below(100)));
  }
  for (std::size_t i = 0; i < n_children; ++i) {
    const auto label = static_cast<std::uint32_t>(rng.below(kLabels));
    LaneChild child{label_bit(label), nullptr, label, kNowhere};
    if (label < 2) child.row = sample.values.data() + i * kRowLength;
    if (label == 2) child.place = place_of(label, rng);
    sample.children.push_back(child);
    sample.bits |= child.bit;
  }
  for (std::size_t c = 0; c < 6; ++c) add_chunk(sample, rng.below(7), c % 2 == 0, rng);
  return sample;
}

// A(i,j) = pay D (1 + B(i-1,j-1)), B the sum of A over both, decaying with the distance.
double plain_delta(const Sample& s, const LaneChunk& chunk, std::size_t lane) {
  const std::size_t n = s.children.size();
  std::vector<std::vector<double>> A(n, std::vector<double>(chunk.n_slots, 0.0));
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < chunk.n_slots; ++j) {
      const LaneSlot& slot = s.slots[chunk.first_slot + j];
      const LaneChild& child = s.children[i];
      if (slot.label[lane] != child.label) continue;
      const double delta = child.row != nullptr              ? child.row[slot.place[lane]]
                           : slot.place[lane] == child.place ? kWeights.single + kWeights.pair
                                                             : kWeights.single;
      double before = 0.0;
      for (std::size_t a = 0; a < i; ++a) {
        for (std::size_t b = 0; b < j; ++b) {
          const auto skipped = static_cast<double>((i - 1 - a) + (j - 1 - b));
          before += std::pow(kWeights.lambda, skipped) * A[a][b];
        }
      }
      A[i][j] = kWeights.pay * delta * (1.0 + before);
      total += A[i][j];
    }
  }
  return kWeights.single + kWeights.mu * total;
}

std::vector<double> by_narrow(const LaneKernels& kernels, const Sample& s) {
  std::vector<double> out(s.chunks.size() * kColumns);
  kernels.narrow(kWeights, s.children.data(), s.children.size(), s.bits, s.chunks.data(),
                 s.chunks.size(), s.slots.data(), out.data());
  return out;
}

// In blocks of children and pieces of slots of any size.
std::vector<double> by_wide(const LaneKernels& kernels, const Sample& s, std::size_t block,
                            std::size_t piece, bool known) {
  std::vector<double> out;
  std::vector<std::uint32_t> kinds(s.children.size());
  std::iota(kinds.begin(), kinds.end(), 0u);
  for (const LaneChunk& chunk : s.chunks) {
    std::vector<double> sums(s.children.size() * kColumns, 0.0);
    double total[kColumns] = {};
    for (std::size_t j = 0; j < chunk.n_slots; j += piece) {
      const LaneSlot* const slots = s.slots.data() + chunk.first_slot + j;
      const std::size_t n_slots = std::min(piece, chunk.n_slots - j);
      std::vector<double> before(n_slots * kColumns, 0.0);
      std::vector<double> table(kinds.size() * n_slots * kColumns);
      kernels.deltas(kWeights, s.children.data(), kinds.size(), slots, n_slots, table.data());
      for (std::size_t i = 0; i < s.children.size(); i += block) {
        const std::size_t n = std::min(block, s.children.size() - i);
        double* const carried = sums.data() + i * kColumns;
        if (known) {
          kernels.wide_known(kWeights, kinds.data() + i, n, table.data(), n_slots, carried,
                             before.data(), total);
        } else {
          kernels.wide(kWeights, s.children.data() + i, n, slots, n_slots, carried, before.data(),
                       total);
        }
      }
    }
    for (const double sum : total) out.push_back(kWeights.single + kWeights.mu * sum);
  }
  return out;
}

void check_against_plain(const Sample& s, const std::vector<double>& values) {
  for (std::size_t c = 0; c < s.chunks.size(); ++c) {
    for (std::size_t lane = 0; lane < kColumns; ++lane) {
      const double plain = plain_delta(s, s.chunks[c], lane);
      CHECK(std::fabs(values[c * kColumns + lane] - plain) <= 1e-13 * plain);
    }
  }
}

void narrow_rows() {
  Rng rng(1);
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const Sample s = random_sample(1 + trial % kNarrow, rng);
    const std::vector<double> values = by_narrow(lane_kernels(), s);
    check_against_plain(s, values);
    CHECK(values == by_narrow(baseline_lane_kernels(), s));
  }
}

void wide_rows() {
  Rng rng(2);
  for (std::size_t trial = 0; trial < 60; ++trial) {
    const Sample s = random_sample(1 + trial % 40, rng);
    for (const bool known : {false, true}) {
      const std::vector<double> values = by_wide(lane_kernels(), s, kBlock, 100, known);
      check_against_plain(s, values);
      CHECK(values == by_wide(baseline_lane_kernels(), s, kBlock, 100, known));
      check_against_plain(s, by_wide(lane_kernels(), s, 3, 2, known));
    }
  }
}

void sums() {
  std::vector<double> row, sum(11, 1.0), lanes(5 * kColumns);
  for (std::size_t i = 0; i < sum.size(); ++i) row.push_back(static_cast<double>(i));
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<double>(i);
  const LaneTerm terms[3] = {{4, 1}, {0, 3}, {2, 2}};
  for (const LaneKernels* kernels : {&lane_kernels(), &baseline_lane_kernels()}) {
    std::fill(sum.begin(), sum.end(), 1.0);
    kernels->add(row.data(), row.size(), 1.0, sum.data());
    kernels->add(row.data(), row.size(), 2.0, sum.data());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      CHECK_EQUAL(sum[i], 1.0 + 3.0 * static_cast<double>(i));
    }
    double total[kColumns];
    kernels->dot(terms, 3, lanes.data(), total);
    for (std::size_t i = 0; i < kColumns; ++i) {
      CHECK_EQUAL(total[i],
                  lanes[4 * kColumns + i] + 3.0 * lanes[i] + 2.0 * lanes[2 * kColumns + i]);
    }
  }
}

}  // namespace

}  // namespace filbert

int main() {
  using namespace filbert;
  return check::run({TEST(narrow_rows), TEST(wide_rows), TEST(sums)});
}
