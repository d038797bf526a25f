#include "learn/losses/losses.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

namespace filbert {

namespace {

// visit(loss) for a value of every type in AnyLoss.
template <class Visit>
void for_each_loss(const Visit& visit) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (visit(std::variant_alternative_t<k, AnyLoss>{}), ...);
  }(std::make_index_sequence<std::variant_size_v<AnyLoss>>{});
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for_each_loss([&]<Loss L>(const L&) { names.emplace_back(L::name); });
  return names;
}

AnyLoss loss_named(std::string_view name, double epsilon) {
  std::optional<AnyLoss> found;
  std::string known;
  for_each_loss([&]<Loss L>(L loss) {
    if constexpr (requires { loss.epsilon; }) loss.epsilon = epsilon;
    if (name == L::name) found = loss;
    known.append(known.empty() ? "'" : ", '").append(L::name).append("'");
  });
  if (found) return *found;
  throw std::invalid_argument("there is no loss '" + std::string(name) + "'; the losses are " +
                              known);
}

}  // namespace filbert
