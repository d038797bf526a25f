"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const numbers = JSON.parse($("numbers").textContent);

  // Text is only ever inserted as text: labels are untrusted.
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const signed = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    const digits = size >= 0.001 && size < 1000 ? size.toFixed(3) : size.toExponential(1);
    return (value < 0 ? "\u2212" : "+") + digits;
  };

  const count = (shown, all, what) =>
    shown === all ? `${all.toLocaleString("en")} ${what}` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} ${what}`;

  // Embedded pages may not be allowed to change their address.
  const setAddress = (hash) => {
    try {
      history.replaceState(null, "", hash);
    } catch {
      // then the address stays as it is
    }
  };

  // ------------------------------------------------------------ light and dark

  const inDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : inDark.matches);
  const showTheme = () => {
    $("theme").setAttribute("aria-pressed", String(isDark()));
    $("theme").querySelector("span").textContent = isDark() ? "Light" : "Dark";
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  inDark.addEventListener("change", showTheme);
  showTheme();

  // ------------------------------------------------------------ boxes that scroll

  // Wide content can be scrolled by keyboard too. Measure everything first, then change it,
  // so that the browser computes one layout.
  const SHOWN = "#summary .scroll, .fragment .scroll, .example.current .scroll, dialog .scroll";
  const reachable = () => {
    const boxes = [...document.querySelectorAll(SHOWN)];
    const wide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
    boxes.forEach((box, i) => {
      if (wide[i]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  };
  let waiting = 0;
  const reachableSoon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(reachable, 150);
  };
  addEventListener("resize", reachableSoon);

  // ------------------------------------------------------------ fragments

  const STEP = innerWidth < 600 ? 12 : 24;

  const fragments = () => {
    const controls = $("fragment-controls");
    const cards = [...document.querySelectorAll(".fragment")].map((element, order) => ({
      element,
      order,
      text: element.querySelector(".text").textContent.toLowerCase(),
      problem: element.dataset.problem,
      side: element.dataset.side,
      weight: Math.abs(Number(element.dataset.weight)),
      frequency: Number(element.dataset.frequency),
      size: Number(element.dataset.size),
    }));
    const orders = {
      weight: (a, b) => b.weight - a.weight,
      frequency: (a, b) => b.frequency - a.frequency || b.weight - a.weight,
      large: (a, b) => b.size - a.size || b.weight - a.weight,
      small: (a, b) => a.size - b.size || b.weight - a.weight,
    };
    const grid = document.querySelector("#fragments .grid");
    let limit = STEP;

    const show = () => {
      const text = $("fragment-text").value.trim().toLowerCase();
      const problem = $("fragment-class") ? $("fragment-class").value : "";
      const side = controls.elements["fragment-side"].value;
      const least = Number($("fragment-frequency").value) || 0;
      const order = orders[$("fragment-sort").value];
      const found = cards
        .filter((card) => card.text.includes(text) && card.frequency >= least)
        .filter((card) => (!problem || card.problem === problem) && (!side || card.side === side))
        .sort((a, b) => order(a, b) || a.order - b.order);
      grid.replaceChildren(...found.slice(0, limit).map((card) => card.element));
      $("fragment-count").textContent = count(found.length, cards.length, "fragments");
      $("fragment-more").hidden = found.length <= limit;
      $("fragment-more").textContent = `Show ${Math.min(STEP, found.length - limit)} more`;
      $("fragment-empty").hidden = found.length > 0;
      reachableSoon();
    };
    const changed = () => {
      limit = STEP;
      show();
    };
    controls.addEventListener("input", changed);
    controls.addEventListener("submit", (event) => event.preventDefault());
    $("fragment-reset").addEventListener("click", () => {
      controls.reset();
      changed();
      $("fragment-text").focus();
    });
    $("fragment-more").addEventListener("click", () => {
      const next = limit;
      limit += STEP;
      show();
      const link = grid.children[next] && grid.children[next].querySelector("a");
      if (link) link.focus();
    });
    // All classes share one grid, the first.
    for (const section of document.querySelectorAll(".problem")) {
      section.hidden = !section.contains(grid);
      section.removeAttribute("aria-labelledby");
      section.querySelector(".grid").replaceChildren();
    }
    show();
  };

  // ------------------------------------------------------------ a tree with contributions

  const LEVELS = 5;
  const levelOf = (value, largest) => {
    const share = largest > 0 ? Math.abs(value) / largest : 0;
    if (share < 0.02) return 0;
    return Math.sign(value) * Math.min(LEVELS, 1 + Math.floor(share * LEVELS));
  };

  const tip = $("tip");
  const hideTip = () => {
    tip.hidden = true;
  };
  const showTip = (node) => {
    tip.replaceChildren(make("bdi", "", node.labelText), " ", make("b", "", node.valueText));
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(box.left + box.width / 2 - own.width / 2, 6), innerWidth - own.width - 6);
    const above = box.top - own.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 60 ? box.bottom + 8 : above}px`;
  };

  // Colours the nodes for one class and shows what each adds.
  const paint = (article, example, problem) => {
    const values = example.contributions[problem];
    const score = article.querySelector(`.score input[value="${problem}"]`).parentElement;
    const name = score.querySelector(".name").textContent;
    const other = score.querySelector(".negative"); // of two classes
    article.querySelectorAll(".node[data-node]").forEach((node, i) => {
      const value = values[i];
      node.dataset.level = levelOf(value, example.largest);
      node.valueText = other && value < 0 ? `${signed(-value)} for ${other.textContent}` : `${signed(value)} for ${name}`;
      node.setAttribute("aria-label", `${node.labelText}: ${node.valueText}`);
    });
    for (const element of article.querySelectorAll(".shown-class")) element.textContent = name;
    article.querySelector(".sum-nodes").textContent = signed(example.sums[problem]);
    article.querySelector(".sum-intercept").textContent = signed(numbers.intercept[problem]);
    article.querySelector(".sum-score").textContent = score.querySelector(".number").textContent;
    article.querySelectorAll(".adds").forEach((cell, i) => {
      cell.textContent = signed(example.support[i][problem]);
    });
  };

  // Makes the nodes of a drawing reachable by keyboard: one tab stop, then arrow keys.
  const wire = (article, example) => {
    const box = article.querySelector(".contributions");
    const svg = box.querySelector("svg");
    if (!svg) return;
    const nodes = [...svg.querySelectorAll(".node[data-node]")];
    svg.setAttribute("role", "tree");
    svg.setAttribute("aria-label", "The tree; arrow keys go from node to node");
    for (const node of nodes) {
      const title = node.querySelector("title");
      node.labelText = node.querySelector("text").textContent;
      if (title) {
        // The whole label; after the last colon is the value, which the tip shows.
        if (node.labelText.endsWith("…")) node.labelText = title.textContent.replace(/: [^:]*$/, "");
        title.remove();
      }
      node.setAttribute("role", "treeitem");
      node.setAttribute("tabindex", "-1");
    }
    if (nodes.length) nodes[0].setAttribute("tabindex", "0");
    const { parents } = example; // by order in the drawing
    const target = (place, key) => {
      const row = nodes.map((_, other) => other).filter((other) => parents[other] === parents[place]);
      if (key === "ArrowUp") return parents[place];
      if (key === "ArrowDown") return parents.indexOf(place);
      if (key === "ArrowLeft") return row[row.indexOf(place) - 1];
      if (key === "ArrowRight") return row[row.indexOf(place) + 1];
      return 0;
    };
    box.addEventListener("keydown", (event) => {
      const node = event.target.closest(".node[data-node]");
      if (event.key === "Escape") hideTip();
      if (!node || !/^(Arrow|Home)/.test(event.key)) return;
      event.preventDefault();
      const next = nodes[target(nodes.indexOf(node), event.key)];
      if (!next) return;
      for (const other of nodes) other.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
    box.addEventListener("focusin", (event) => {
      const node = event.target.closest(".node[data-node]");
      if (node) showTip(node);
    });
    box.addEventListener("focusout", hideTip);
    box.addEventListener("pointerover", (event) => {
      const node = event.target.closest(".node[data-node]");
      if (node) showTip(node);
      else hideTip();
    });
    box.addEventListener("pointerleave", hideTip);
  };
  addEventListener("scroll", hideTip, { passive: true, capture: true });

  // ------------------------------------------------------------ examples

  const examples = () => {
    const controls = $("example-controls");
    const rows = [...document.querySelectorAll("#example-rows a")].map((element) => ({
      element,
      item: element.parentElement,
      text: element.querySelector(".words").textContent.toLowerCase(),
      classes: element.dataset.classes.split(" "),
      wrong: "wrong" in element.dataset,
    }));
    const articles = [...document.querySelectorAll(".example")];
    const list = $("example-rows");
    let shown = rows;
    let current = null;

    const prepared = new Set();
    const select = (i, { focus = false, remember = true } = {}) => {
      if (i === current) return;
      hideTip();
      if (current !== null) {
        articles[current].classList.remove("current");
        rows[current].element.removeAttribute("aria-current");
        rows[current].element.tabIndex = -1;
      }
      current = i;
      articles[i].classList.add("current");
      rows[i].element.setAttribute("aria-current", "true");
      rows[i].element.tabIndex = 0;
      if (!prepared.has(i)) {
        prepared.add(i);
        const example = numbers.examples[i];
        wire(articles[i], example);
        paint(articles[i], example, Number(articles[i].dataset.shown));
        articles[i].querySelector(".scores").addEventListener("change", (event) => {
          paint(articles[i], example, Number(event.target.value));
        });
      }
      const row = rows[i].item;
      if (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = row.offsetTop - list.clientHeight / 3;
      }
      if (focus) rows[i].element.focus({ preventScroll: true });
      if (remember) setAddress(`#example-${i}`);
      reachableSoon();
    };

    // Goes to the previous or next example that matches the filter.
    const step = (by, options) => {
      const at = shown.findIndex((row) => rows.indexOf(row) === current);
      const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
      if (next) select(rows.indexOf(next), options);
    };

    const filter = () => {
      const text = $("example-text").value.trim().toLowerCase();
      const name = $("example-class").value;
      const wrong = $("example-wrong") !== null && $("example-wrong").checked;
      shown = rows.filter((row) => row.text.includes(text) && (!name || row.classes.includes(name)) && (!wrong || row.wrong));
      const kept = new Set(shown);
      for (const row of rows) row.item.hidden = !kept.has(row);
      $("example-count").textContent = count(shown.length, rows.length, "examples");
      $("example-empty").hidden = shown.length > 0;
      list.hidden = shown.length === 0;
      if (shown.length && (current === null || !kept.has(rows[current]))) select(rows.indexOf(shown[0]), { remember: false });
    };

    list.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link) return;
      event.preventDefault();
      select(Number(link.dataset.example), { focus: true });
    });
    list.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, Home: -rows.length, End: rows.length, PageDown: 8, PageUp: -8 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      step(steps[event.key], { focus: true });
    });
    for (const button of document.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => {
        step(Number(button.dataset.step));
        articles[current].querySelector(`[data-step="${button.dataset.step}"]`).focus();
      });
    }
    controls.addEventListener("input", filter);
    controls.addEventListener("submit", (event) => event.preventDefault());
    const fromAddress = () => {
      const match = /^#example-(\d+)$/.exec(location.hash);
      if (match && articles[Number(match[1])]) select(Number(match[1]), { remember: false });
    };
    addEventListener("hashchange", fromAddress);
    for (const row of rows) row.element.tabIndex = -1;
    fromAddress();
    filter();
  };

  // ------------------------------------------------------------ support vectors

  const dialog = $("dialog");
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".tree-link");
    const figure = link && document.querySelector(link.getAttribute("href"));
    if (!figure) return;
    event.preventDefault();
    const copy = figure.cloneNode(true);
    copy.removeAttribute("id");
    copy.className = "";
    $("dialog-body").replaceChildren(copy);
    dialog.showModal();
    $("dialog-title").focus();
    reachable();
  });
  $("dialog-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  if ($("fragments")) fragments();
  if ($("examples")) examples();
  reachableSoon();
})();
