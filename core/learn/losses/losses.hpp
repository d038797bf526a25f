// All losses. To add a loss, add it to AnyLoss: its name is then known everywhere.
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

// Throws std::invalid_argument, with all names in the message, if no loss has this name.
AnyLoss loss_named(std::string_view name);

}  // namespace filbert
