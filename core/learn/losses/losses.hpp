// All losses. A new one is added to AnyLoss: its name is then known everywhere.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "learn/losses/hinge.hpp"
#include "learn/losses/loss.hpp"
#include "learn/losses/squared_hinge.hpp"

namespace filbert {

using AnyLoss = std::variant<Hinge, SquaredHinge>;

std::vector<std::string> loss_names();

// Throws std::invalid_argument, with all names in the message, where no loss has this one.
AnyLoss loss_named(std::string_view name);

}  // namespace filbert
