// All losses. To add a loss, add it to AnyLoss: its name is then known everywhere.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "learn/losses/epsilon_insensitive.hpp"
#include "learn/losses/hinge.hpp"
#include "learn/losses/logistic.hpp"
#include "learn/losses/loss.hpp"
#include "learn/losses/squared_epsilon_insensitive.hpp"
#include "learn/losses/squared_error.hpp"
#include "learn/losses/squared_hinge.hpp"

namespace filbert {

using AnyLoss = std::variant<Hinge, SquaredHinge, Logistic, EpsilonInsensitive,
                             SquaredEpsilonInsensitive, SquaredError>;

std::vector<std::string> loss_names();

// The loss with this name. Losses without an epsilon ignore it. Throws std::invalid_argument, with
// all names in the message, if no loss has this name.
AnyLoss loss_named(std::string_view name, double epsilon = 0.0);

}  // namespace filbert
