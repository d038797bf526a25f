// ------------------------------------------------------------ fragments

const CARDS = innerWidth < 600 ? 12 : 24; // at a time
const ROWS = 100;

const speaks = ({ side, problem }) => {
  if (side === "for") return ["for ", isolated(data.positive[problem])];
  return isBinary ? ["for ", isolated(data.negative[problem])] : ["against ", isolated(data.positive[problem])];
};

const titleOf = (fragment) => () => ["Where ", make("code", "", isolated(fragment.text)), " occurs"];

const makeCard = (fragment, heaviest) => {
  const head = make("div", "fragment-head", make("span", "chip", ...speaks(fragment)), make("span", "weight", signed(fragment.weight)), bar(fragment.weight, heaviest));
  const drawing = make("div", "scroll drawing", draw(fragment.drawing));
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", "The fragment");
  const links = fragment.trees.map(([tree, hits]) => make("li", "", treeLink(tree, titleOf(fragment), hits)));
  const meta = make("div", "aside meta", make("span", "", `${grouped(fragment.frequency)} ${fragment.frequency === 1 ? "time" : "times"}`), make("span", "", `${fragment.size} ${fragment.size === 1 ? "node" : "nodes"}`));
  if (links.length) meta.append(make("ul", "links", ...links));
  return make("li", `card fragment ${fragment.side}`, head, drawing, make("code", "text", isolated(fragment.text)), meta);
};

const showFragments = () => {
  const controls = $("fragment-controls");
  const body = document.querySelector(".fragments tbody");
  const heaviest = Math.max(...data.fragments.map((fragment) => Math.abs(fragment.weight)));
  const entries = data.fragments.map((fragment, order) => ({
    ...fragment,
    order,
    row: body.rows[order],
    weight: Math.abs(fragment.weight),
    lower: fragment.text.toLowerCase(),
    card: null,
    makeCard: () => makeCard(fragment, heaviest),
  }));
  const isUp = { problem: true, text: true }; // from the smallest to the largest, unless asked
  const values = { problem: (entry) => 2 * entry.problem + (entry.side === "against"), text: (entry) => entry.lower };
  let sort = { key: "weight", up: false };
  let view = "cards";
  let limit = CARDS;

  const compare = (a, b) => {
    const value = values[sort.key] || ((entry) => entry[sort.key]);
    const [x, y] = [value(a), value(b)];
    const first = x < y ? -1 : x > y ? 1 : 0;
    return (sort.up ? first : -first) || b.weight - a.weight || a.order - b.order;
  };
  const number = (id, otherwise) => Number($(id).value) || otherwise;
  const matching = () => {
    const text = $("fragment-text").value.trim().toLowerCase();
    const problem = $("fragment-class") ? $("fragment-class").value : "";
    const side = controls.elements["fragment-side"].value;
    const words = !$("fragment-words") || $("fragment-words").checked;
    const [times, smallest, largest] = [number("fragment-frequency", 0), number("fragment-smallest", 0), number("fragment-largest", Infinity)];
    return entries.filter((entry) =>
      entry.lower.includes(text) && entry.frequency >= times && entry.size >= smallest && entry.size <= largest
      && (words || !entry.isWord) && (!problem || entry.problem === Number(problem)) && (!side || entry.side === side));
  };
  const step = () => (view === "cards" ? CARDS : ROWS);

  const show = () => {
    const found = matching().sort(compare);
    const shown = found.slice(0, limit);
    const isTable = view === "table";
    $("fragment-cards").replaceChildren(...(isTable ? [] : shown.map((entry) => (entry.card ??= entry.makeCard()))));
    body.replaceChildren(...(isTable ? shown.map((entry) => entry.row) : []));
    $("fragment-cards").hidden = isTable || !shown.length;
    $("fragment-table").hidden = !isTable || !shown.length;
    $("fragment-order").hidden = isTable; // the heads of the table sort
    for (const head of document.querySelectorAll(".fragments [data-key]")) {
      head.setAttribute("aria-sort", head.dataset.key !== sort.key ? "none" : sort.up ? "ascending" : "descending");
    }
    $("fragment-count").textContent = count(found.length, entries.length, "fragments");
    $("fragment-more").hidden = found.length <= limit;
    $("fragment-more").textContent = `Show ${Math.min(step(), found.length - limit)} more`;
    $("fragment-empty").hidden = found.length > 0;
    showEndsSoon();
  };
  const changed = () => {
    view = controls.elements["fragment-view"].value;
    limit = step();
    show();
  };

  for (const head of document.querySelectorAll(".fragments [data-key]")) {
    const { key } = head.dataset;
    const button = make("button", "head", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      sort = { key, up: sort.key === key ? !sort.up : Boolean(isUp[key]) };
      changed();
    });
    head.replaceChildren(button);
  }
  $("fragment-sort").addEventListener("input", () => {
    const [key, direction] = $("fragment-sort").value.split(" ");
    sort = { key, up: direction === "up" };
  });
  for (const { row, trees, ...fragment } of entries) {
    const link = row.querySelector(".link");
    if (link) link.addEventListener("click", () => openTree(trees[0][0], titleOf(fragment)(), trees[0][1]));
  }
  controls.addEventListener("input", changed);
  controls.addEventListener("submit", (event) => event.preventDefault());
  $("fragment-reset").addEventListener("click", () => {
    const kept = view;
    controls.reset();
    controls.elements["fragment-view"].value = kept;
    sort = { key: "weight", up: false };
    changed();
    $("fragment-text").focus();
  });
  $("fragment-more").addEventListener("click", () => {
    const next = limit;
    limit += step();
    show();
    const shown = view === "cards" ? $("fragment-cards") : body;
    const link = shown.children[next] && shown.children[next].querySelector(".link");
    if (link) link.focus();
  });
  show();
};

