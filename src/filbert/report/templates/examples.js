// ------------------------------------------------------------ examples

const LEVELS = 5;
const levelOf = (value, largest) => {
  const share = largest > 0 ? Math.abs(value) / largest : 0;
  if (share < 0.02) return 0;
  return Math.sign(value) * Math.min(LEVELS, 1 + Math.floor(share * LEVELS));
};
const largestOf = (rows) => rows.reduce((most, row) => row.reduce((inner, value) => Math.max(inner, Math.abs(value)), most), 0);

// Colours the nodes for one class and shows what each adds.
const paint = (example, problem) => {
  const [positive, negative] = [data.positive[problem], data.negative[problem]];
  const values = example.contributions[problem];
  const largest = largestOf(example.contributions);
  for (const node of document.querySelectorAll("#example-tree [data-node]")) {
    const place = Number(node.dataset.node);
    const value = values[place] * example.unit;
    node.dataset.level = levelOf(values[place], largest);
    const text = isBinary && value < 0 ? `${signed(-value)} for ${negative}` : `${signed(value)} for ${positive}`;
    node.tip = [labelOf(example.drawing, place), text];
    node.setAttribute("aria-label", node.tip.join(": "));
  }
  for (const element of document.querySelectorAll("#example .shown-class")) element.textContent = positive;
  document.querySelector("#example .other-class").textContent = isBinary ? negative : positive;
  $("sum-nodes").textContent = signed(example.sums[problem]);
  $("sum-intercept").textContent = signed(data.intercept[problem]);
  $("sum-score").textContent = signed(example.scores[problem]);
  document.querySelectorAll("#example .adds").forEach((cell, i) => {
    cell.textContent = signed(example.support[i].contributions[problem]);
  });
};

const scoreOf = (example, problem, largest) => {
  const score = example.scores[problem];
  const shown = make("span", "number", signed(score));
  if (isBinary) {
    return make("div", "score two", make("span", "negative", isolated(data.negative[0])), signedBar(score, largest), make("span", "name", isolated(data.positive[0])), shown);
  }
  const radio = make("input");
  Object.assign(radio, { type: "radio", name: "example-problem", value: problem, checked: problem === example.shown });
  return make("label", "score", radio, make("span", "name", isolated(data.positive[problem])), signedBar(score, largest), shown);
};

const verdictOf = ({ predicted, actual, isWrong }) => {
  const verdict = ["Predicted ", make("strong", "", isolated(predicted))];
  if (isWrong) verdict.push(", ", make("span", "wrong", "actually ", make("strong", "", isolated(actual))));
  else if (actual !== null) verdict.push(", ", make("span", "right", "which is right"));
  return [...verdict, "."];
};

const supportOf = (near) =>
  make("tr", "", make("td", "", near.similarity.toFixed(3)), make("td", "bar-cell", bar(near.similarity, 1)), make("td", "", isolated(near.label)), make("td", "number adds"), make("td", "words", treeLink(near.tree, () => ["Support vector"], [])));

// Of one example all scores are compared; a single score is compared with those of all examples.
const largestScore = (example) => largestOf(isBinary ? data.examples.map((one) => one.scores) : [example.scores]);

const fillExample = (example) => {
  const { index, nNodes, words, scores, drawing, support } = example;
  const largest = largestScore(example);
  const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
  $("example-number").textContent = `Example ${index}, ${grouped(nNodes)} ${nNodes === 1 ? "node" : "nodes"}`;
  $("example-title").replaceChildren(isolated(words));
  $("example-verdict").replaceChildren(...verdictOf(example));
  $("example-scores").replaceChildren(...order.map((problem) => scoreOf(example, problem, largest)));
  const svg = draw(drawing);
  makeWalkable(svg, drawing);
  $("example-tree").replaceChildren(svg);
  $("example-tree").scrollLeft = 0;
  if ($("example-support")) $("example-support").replaceChildren(...support.map(supportOf));
  paint(example, example.shown);
};

const showExamples = () => {
  const controls = $("example-controls");
  const list = $("example-rows");
  const rows = [...list.children].map((item, number) => ({
    item,
    number,
    link: item.querySelector("a"),
    text: data.examples[number].words.toLowerCase(),
  }));
  let shown = rows;
  let current = null;

  const select = (number, { focus = false, remember = true } = {}) => {
    if (number === current) return;
    hideTip();
    if (current !== null) {
      rows[current].link.removeAttribute("aria-current");
      rows[current].link.tabIndex = -1;
    }
    current = number;
    const { item, link } = rows[number];
    link.setAttribute("aria-current", "true");
    link.tabIndex = 0;
    fillExample(data.examples[number]);
    if (item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = item.offsetTop - list.clientHeight / 3;
    }
    if (focus) link.focus({ preventScroll: true });
    if (remember) setAddress(`#example-${number}`);
    showEndsSoon();
  };

  // Goes to the previous or next example that matches the filter.
  const step = (by, options) => {
    const at = shown.findIndex((row) => row.number === current);
    const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next) select(next.number, options);
  };

  const filter = () => {
    const text = $("example-text").value.trim().toLowerCase();
    const name = $("example-class").value;
    const wrong = $("example-wrong") !== null && $("example-wrong").checked;
    shown = rows.filter((row) => {
      const { classes, isWrong } = data.examples[row.number];
      return row.text.includes(text) && (!name || classes.includes(Number(name))) && (!wrong || isWrong);
    });
    const kept = new Set(shown);
    for (const row of rows) row.item.hidden = !kept.has(row);
    $("example-count").textContent = count(shown.length, rows.length, "examples");
    $("example-empty").hidden = shown.length > 0;
    list.hidden = shown.length === 0;
    if (shown.length && (current === null || !kept.has(rows[current]))) select(shown[0].number, { remember: false });
  };

  list.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    select(rows.findIndex((row) => row.link === link), { focus: true });
  });
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, Home: -rows.length, End: rows.length, PageDown: 8, PageUp: -8 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    step(steps[event.key], { focus: true });
  });
  for (const button of document.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  }
  $("example-scores").addEventListener("change", (event) => paint(data.examples[current], Number(event.target.value)));
  controls.addEventListener("input", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  const fromAddress = () => {
    const match = /^#example-(\d+)$/.exec(location.hash);
    if (match && rows[Number(match[1])]) select(Number(match[1]), { remember: false });
  };
  addEventListener("hashchange", fromAddress);
  for (const row of rows) row.link.tabIndex = -1;
  fromAddress();
  filter();
};

