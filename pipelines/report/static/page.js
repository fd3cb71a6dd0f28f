// Draws the charts and pages through the examples. All text of the data's becomes text nodes: nothing here parses HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SPLITS = {train: "var(--train)", valid: "var(--valid)", test: "var(--test)"};
  const STATUS = {kept: "var(--kept)", changed: "var(--changed)", lost: "var(--lost)"};
  const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
  const number = (value) => value.toLocaleString("en");
  const unique = (items) => [...new Set(items)];

  // Elements

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  // Examples: which of them filters let through, and the address that says the filters

  const NAMES = ["suite", "domain", "outcome", "split"];
  for (const example of data.examples) {
    example.outcomes ??= [];
    example.domains ??= [];
    example.search = [example.id, ...(example.steps ?? []), ...example.turns.flatMap((turn) => [turn.text, turn.was ?? "", (turn.skip ?? "").replaceAll("_", " "),
      ...(turn.values ?? []).map((value) => value[2]), ...(turn.state ?? [])])].join("\n").toLowerCase();
  }
  // Words between quotation marks stand next to each other.
  const wordsOf = (text) => (text.toLowerCase().match(/"[^"]+"|[^\s"]+/g) ?? []).map((word) => word.replaceAll('"', ""));
  function fitting(wanted) {
    const words = wordsOf(wanted.words ?? "");
    return data.examples.filter((example) =>
      wanted.example ? example.id === wanted.example :
      (!wanted.suite || example.suite === wanted.suite) && (!wanted.domain || example.domains.includes(wanted.domain)) &&
      (!wanted.outcome || example.outcomes.includes(wanted.outcome)) && (!wanted.split || example.split === wanted.split) &&
      words.every((word) => example.search.includes(word)));
  }
  const address = (wanted) => {
    const said = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
    return `#examples${said.size ?? [...said].length ? `?${said}` : ""}`;
  };
  // Where a part of a figure leads: nowhere where no example fits.
  const known = new Map();
  function leads(wanted) {
    const to = address(wanted);
    if (!known.has(to)) known.set(to, data.examples.length > 0 && fitting(wanted).length > 0);
    return known.get(to) ? to : undefined;
  }
  const suiteOf = (name) => data.examples.some((example) => example.suite === name) ? name : name.split(": ")[0];
  function set(file) {
    const found = [...document.querySelectorAll("[data-file]")].find((one) => one.dataset.file === file);
    return found ? `#${found.id}` : undefined;
  }

  // Charts

  const tip = {fill: "var(--card)", stroke: "var(--line)", fontSize: 13, lineHeight: 1.25};
  const width = (text) => [...text].reduce((sum, char) => sum + (char > "\u2e80" ? 13 : 6.8), 0);
  // Room for labels on the left, at most half of the chart; longer ones are cut, the tip has them whole.
  const room = (labels, total) => Math.min(Math.max(40, ...labels.map(width)) + 14, Math.round(total * 0.5));
  function cut(label, space) {
    const chars = [...label];
    while (chars.length > 1 && width(chars.join("")) > space - 14) chars.pop();
    return chars.length < [...label].length ? chars.slice(0, -1).join("") + "…" : label;
  }
  const base = (chart, total) => ({width: total, style: {fontSize: total < 420 ? "12px" : "13px", color: "var(--ink)"}, ariaLabel: chart.title, marginBottom: 40});

  const draw = {
    // Small multiples of bars over ordinal bins, one panel for each suite.
    facets(chart, total) {
      const suites = unique(chart.data.map((item) => item.suite));
      const most = Math.max(2, Math.floor(total / 240));
      const rows = Math.ceil(suites.length / most);
      const columns = Math.ceil(suites.length / rows);
      const step = Math.ceil(28 * chart.options.order.length / ((total - 60) / columns));
      const place = new Map(suites.map((suite, at) => [suite, at]));
      const at = (item) => place.get(item.suite ?? item);
      return Charts.plot({
        ...base(chart, total), height: rows * 150 + 34, marginTop: 26, marginLeft: 46, marginRight: 4, marginBottom: 26,
        x: {domain: chart.options.order, label: null, tickSize: 0, ticks: chart.options.order.filter((_, place) => place % step === 0 && (step === 1 || place < chart.options.order.length - 1))},
        y: {percent: true, grid: true, label: null, ticks: 3, tickSize: 0, tickFormat: (value) => `${value} %`},
        fx: {axis: null, padding: 0.12}, fy: {axis: null, padding: 0.3},
        marks: [
          Charts.ruleY([0], {stroke: "var(--line)"}),
          Charts.barY(chart.data, {x: "x", y: "share", fx: (item) => at(item) % columns, fy: (item) => Math.floor(at(item) / columns), fill: "var(--accent)", rx: 2,
            href: (item) => leads({suite: suiteOf(item.suite), only: item.x === "0" ? "" : "1"}), title: (item) => `${item.suite}\n${item.x}: ${number(item.n)} turns, ${percent(item.share)}`, tip}),
          Charts.text(suites, {text: (suite) => suite, fx: (suite) => at(suite) % columns, fy: (suite) => Math.floor(at(suite) / columns),
            frameAnchor: "top-left", dy: -18, fontWeight: 600, fontSize: 13, fill: "var(--ink)"}),
        ],
      });
    },

    // Quantiles of a ratio: a line, a bar, a dot, one row for each suite.
    ranges(chart, total) {
      const left = room(chart.data.map((item) => item.suite), total);
      const say = (item) => `${item.suite}\nmedian ${item.median.toFixed(2)}\nmiddle half ${item.p25.toFixed(2)} to ${item.p75.toFixed(2)}\n90 % ${item.p5.toFixed(2)} to ${item.p95.toFixed(2)}\n${number(item.n)} turns`;
      return Charts.plot({
        ...base(chart, total), height: chart.data.length * 34 + 50, marginLeft: left, marginRight: 16,
        x: {grid: true, zero: true, nice: true, label: null, ticks: Math.max(3, Math.round(total / 90))},
        y: {label: null, tickSize: 0, domain: chart.data.map((item) => item.suite), tickFormat: (name) => cut(name, left), padding: 0.4},
        marks: [
          Charts.ruleX([chart.options.neutral], {stroke: "var(--soft)", strokeDasharray: "3 3"}),
          Charts.ruleY(chart.data, {y: "suite", x1: "p5", x2: "p95", stroke: "var(--accent)", strokeOpacity: 0.45, strokeWidth: 2}),
          Charts.barX(chart.data, {y: "suite", x1: "p25", x2: "p75", fill: "var(--accent)", fillOpacity: 0.38, rx: 3, href: (item) => leads({suite: item.suite, only: "1"})}),
          Charts.dot(chart.data, {y: "suite", x: "median", r: 5, fill: "var(--accent)", stroke: "var(--card)", strokeWidth: 1.5}),
          Charts.tip(chart.data, Charts.pointerY({y: "suite", x: "median", title: say, ...tip})),
        ],
      });
    },

    // Shares that make up a whole, one row for each suite.
    stack(chart, total) {
      const suites = unique(chart.data.map((item) => item.suite));
      const left = room(suites, total);
      return Charts.plot({
        ...base(chart, total), height: suites.length * 34 + 50, marginLeft: left, marginRight: 20,
        x: {percent: true, grid: true, label: null, tickFormat: (value) => `${value} %`, ticks: 5},
        y: {label: null, tickSize: 0, domain: suites, tickFormat: (name) => cut(name, left), padding: 0.3},
        color: {domain: Object.keys(STATUS), range: Object.values(STATUS)},
        marks: [
          Charts.barX(chart.data, {y: "suite", x: "share", fill: "status", order: Object.keys(STATUS), insetRight: 0.5,
            href: (item) => leads({suite: item.suite, outcome: item.status}), title: (item) => `${item.suite}\n${item.status}: ${number(item.n)}, ${percent(item.share)}`, tip}),
        ],
      });
    },

    // Counts of labels in order, each label above its bar: reasons are long, and a phone is narrow.
    counts(chart, total) {
      const name = (item) => (item.suite ? `${item.suite}: ${item.label}` : item.label);
      const data = chart.data.map((item) => ({...item, name: name(item)}));
      return Charts.plot({
        ...base(chart, total), height: data.length * 38 + 8, marginLeft: 2, marginRight: 56, marginTop: 4, marginBottom: 4,
        x: {axis: null}, y: {axis: null, domain: data.map((item) => item.name), padding: 0},
        marks: [
          Charts.barX(data, {y: "name", x: "n", fill: "var(--accent)", insetTop: 21, insetBottom: 5, rx: 2, href: (item) => leads({suite: item.suite, words: `"${item.label}"`}), title: (item) => `${item.name}\n${number(item.n)} ${chart.options.things}`, tip}),
          Charts.text(data, {y: "name", text: "name", frameAnchor: "left", textAnchor: "start", dy: -7, fill: "var(--ink)"}),
          Charts.text(data, {y: "name", x: "n", text: (item) => number(item.n), textAnchor: "start", dx: 6, dy: 8, fill: "var(--soft)"}),
        ],
      });
    },

    // One histogram.
    bins(chart, total) {
      return Charts.plot({
        ...base(chart, total), height: 240, marginLeft: 46,
        x: {label: chart.options.x, labelArrow: "none", domain: [0, 1]},
        y: {percent: true, grid: true, label: null, tickFormat: (value) => `${value} %`, ticks: 4, tickSize: 0},
        marks: [
          Charts.ruleY([0], {stroke: "var(--line)"}),
          Charts.rectY(chart.data, {x1: "x", x2: "to", y: "share", fill: "var(--accent)", inset: 0.5, rx: 2,
            title: (item) => `${item.x.toFixed(2)} to ${item.to.toFixed(2)}\n${number(item.n)}, ${percent(item.share)}`, tip}),
        ],
      });
    },

    // Distributions of a length, one line for each split.
    lengths(chart, total) {
      const splits = unique(chart.data.map((item) => item.split));
      // A step at each end of a bin: what lies between two bins is nobody's.
      const steps = chart.data.flatMap((item) => [{...item, at: item.x}, {...item, at: item.to}]);
      const middle = (item) => (item.x + item.to) / 2;
      return Charts.plot({
        ...base(chart, total), height: 230, marginLeft: 46,
        x: {label: chart.options.x, labelArrow: "none", tickSize: 4},
        y: {percent: true, grid: true, label: null, tickFormat: (value) => `${value} %`, ticks: 4, tickSize: 0},
        color: {domain: splits, range: splits.map((split) => SPLITS[split])},
        marks: [
          Charts.ruleY([0], {stroke: "var(--line)"}),
          Charts.areaY(steps, {x: "at", y1: 0, y2: "share", z: "split", fill: "split", fillOpacity: 0.13}),
          Charts.lineY(steps, {x: "at", y: "share", z: "split", stroke: "split", strokeWidth: 1.8}),
          Charts.tip(chart.data, Charts.pointer({x: middle, y: "share", title: (item) => `${item.split}\n${item.label} ${chart.options.x}\n${number(item.n)} ${chart.options.things}, ${percent(item.share)}`, ...tip})),
        ],
      });
    },

    // Shares of every split side by side: dots on a line.
    shares(chart, total) {
      const labels = unique(chart.data.map((item) => item.label));
      const splits = unique(chart.data.map((item) => item.split));
      const left = room(labels, total);
      const spread = labels.map((label) => {
        const shares = chart.data.filter((item) => item.label === label).map((item) => item.share);
        return {label, low: Math.min(...shares), high: Math.max(...shares)};
      });
      return Charts.plot({
        ...base(chart, total), height: labels.length * 24 + 50, marginLeft: left, marginRight: 16,
        x: {percent: true, grid: true, zero: true, label: null, tickFormat: (value) => `${value} %`, ticks: 5},
        y: {label: null, tickSize: 0, domain: labels, tickFormat: (name) => cut(name, left), padding: 0.4},
        color: {domain: splits, range: splits.map((split) => SPLITS[split])},
        marks: [
          Charts.ruleY(spread, {y: "label", x1: "low", x2: "high", stroke: "var(--soft)", strokeOpacity: 0.5, strokeWidth: 2}),
          Charts.dot(chart.data, {y: "label", x: "share", fill: "split", r: 5, stroke: "var(--card)", strokeWidth: 1.5,
            href: (item) => leads({split: item.split, ...(chart.options.filter === "domain" ? {domain: item.label} : {words: `"${item.label}"`})})}),
          Charts.tip(chart.data, Charts.pointer({y: "label", x: "share", title: (item) => `${item.label}\n${item.split}: ${number(item.n)}, ${percent(item.share)}`, ...tip})),
        ],
      });
    },

    // Recall of each ranker, with a stroke where chance is.
    audit(chart, total) {
      const files = unique(chart.data.map((item) => item.file));
      const rankers = unique(chart.data.map((item) => item.ranker));
      const left = room(files, total);
      return Charts.plot({
        ...base(chart, total), height: files.length * 30 + 50, marginLeft: left, marginRight: 16,
        x: {percent: true, grid: true, zero: true, nice: true, label: "recall at 1", tickFormat: (value) => `${value} %`, ticks: 5},
        y: {label: null, tickSize: 0, domain: files, tickFormat: (name) => cut(name, left), padding: 0.35},
        color: {domain: rankers, range: RANKERS}, symbol: {domain: rankers},
        marks: [
          Charts.tickX(chart.data, {y: "file", x: "chance", stroke: "var(--ink)", strokeWidth: 2}),
          Charts.dot(chart.data, {y: "file", x: "recall", stroke: "ranker", symbol: "ranker", r: 4.5, strokeWidth: 2, href: (item) => set(item.file)}),
          Charts.tip(chart.data, Charts.pointer({y: "file", x: "recall", title: (item) => `${item.file}\n${item.ranker}: ${percent(item.recall)}\nchance: ${percent(item.chance)}`, ...tip})),
        ],
      });
    },
  };
  const RANKERS = ["var(--train)", "var(--valid)", "var(--lost)", "var(--test)"];

  function legend(chart) {
    const of = {
      stack: () => STATUS,
      lengths: () => Object.fromEntries(unique(chart.data.map((item) => item.split)).map((split) => [split, SPLITS[split]])),
      shares: () => Object.fromEntries(unique(chart.data.map((item) => item.split)).map((split) => [split, SPLITS[split]])),
      audit: () => Object.fromEntries(unique(chart.data.map((item) => item.ranker)).map((ranker, at) => [ranker, RANKERS[at]])),
    }[chart.kind];
    if (!of) return null;
    return element("ul", {class: "legend"}, ...Object.entries(of()).map(([name, color]) => element("li", {style: `--c:${color}`}, element("i"), name)));
  }

  function drawAll() {
    for (const place of document.querySelectorAll("[data-chart]")) {
      const chart = data.charts[place.dataset.chart];
      const total = Math.floor(place.clientWidth);
      if (!total || place.dataset.width === String(total)) continue;
      place.dataset.width = total;
      const made = draw[chart.kind](chart, total);
      made.setAttribute("role", "img");
      place.replaceChildren(...[legend(chart), made].filter(Boolean));
      const hint = place.parentElement.querySelector(".hint");
      if (hint) hint.hidden = !made.querySelector("a");
    }
  }
  drawAll();
  let waiting;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 120); });

  // Theme

  const button = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem("dialmill-theme") || "auto"; } catch { /* a page from disk may have no storage */ }
  function setTheme(wanted) {
    theme = themes.includes(wanted) ? wanted : "auto";
    document.documentElement.style.colorScheme = theme === "auto" ? "" : theme;
    button.querySelector(".word").textContent = theme;
    try { localStorage.setItem("dialmill-theme", theme); } catch { /* as above */ }
  }
  button.hidden = false;
  button.addEventListener("click", () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]));
  setTheme(theme);

  // The section that is in view

  const links = new Map([...document.querySelectorAll(".bar nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      link?.setAttribute("aria-current", "true");
      const nav = link?.parentElement;
      if (nav) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - 40;
    }
  }, {rootMargin: "-15% 0px -75% 0px"});
  for (const section of document.querySelectorAll("section[id]")) seen.observe(section);

  // What is folded up opens where the address names it

  function unfold() {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = named; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (named?.tagName === "DETAILS") named.scrollIntoView({block: "start"});
  }
  window.addEventListener("hashchange", unfold);
  unfold();

  // Examples

  const form = document.getElementById("filters");
  if (!form) return;
  const PAGE = 5;
  const OUTCOMES = {kept: "all values kept", changed: "a value changed", lost: "a value lost", inserted: "turns inserted", same: "nothing changed"};
  const COLORS = {kept: "var(--kept)", changed: "var(--changed)", lost: "var(--lost)", inserted: "var(--accent)", same: "var(--soft)"};
  const choices = {
    suite: unique(data.examples.map((example) => example.suite)),
    domain: unique(data.examples.flatMap((example) => example.domains)).sort(),
    outcome: Object.keys(OUTCOMES).filter((name) => data.examples.some((example) => example.outcomes.includes(name))),
    split: unique(data.examples.map((example) => example.split).filter(Boolean)),
  };
  for (const [name, values] of Object.entries(choices)) {
    const select = form.elements[name];
    select.append(element("option", {value: ""}, "all"), ...values.map((value) => element("option", {value}, name === "outcome" ? OUTCOMES[value] : value)));
    if (values.length < 2) select.closest("label").hidden = true;
  }
  if (!data.examples.some((example) => example.outcomes.length)) form.elements.only.closest("label").hidden = true;

  // Where the pieces of a text begin and end, edits and values laid over each other; offsets count code points.
  function pieces(chars, edits, values) {
    const ends = new Set([0, chars.length]);
    for (const [start, end] of [...edits, ...values]) { ends.add(start); ends.add(end); }
    const sorted = [...ends].filter((at) => at >= 0 && at <= chars.length).sort((a, b) => a - b);
    return sorted.slice(0, -1).map((start, at) => [start, sorted[at + 1]]);
  }
  function rich(text, edits, values, tag) {
    const chars = [...text];
    const placed = (values ?? []).filter(([start]) => start !== null);
    const made = element("span", {dir: "auto"});
    let open = null, mark = null;
    for (const [start, end] of pieces(chars, edits, placed)) {
      const value = placed.find(([from, to]) => from <= start && end <= to);
      const edit = edits.some(([from, to]) => from <= start && end <= to);
      const piece = chars.slice(start, end).join("");
      if (value !== open) {
        open = value;
        mark = value ? element("mark", {title: `${value[2]} (${value[3]})`, style: `--c:${STATUS[value[3]]}`}) : null;
        if (mark) made.append(mark);
      }
      (mark ?? made).append(edit ? element(tag, {}, piece) : piece);
    }
    return made;
  }
  // The edits as they lie in the new text.
  function landed(edits) {
    let shift = 0;
    return edits.map(([start, end, replacement]) => {
      const length = [...replacement].length;
      const at = [start + shift, start + shift + length];
      shift += length - (end - start);
      return at;
    }).filter(([start, end]) => end > start);
  }

  function turnRow(turn) {
    const edits = turn.edits ?? [], values = turn.values ?? [];
    const row = element("li", {class: turn.who});
    row.append(element("div", {class: "who"}, element("b", {}, String(turn.n)), ` ${turn.who === "system" ? "sys" : turn.who}`));
    if (turn.was !== undefined) {
      row.append(
        element("div", {class: "t"}, element("span", {class: "side"}, "source"), rich(turn.was, edits.filter(([start, end]) => end > start), turn.values_before, "del")),
        element("div", {class: "t"}, element("span", {class: "side"}, "variant"), rich(turn.text, landed(edits), values, "ins")));
    } else if (turn.inserted) {
      row.append(element("div", {class: "t soft"}, element("span", {class: "side"}, "inserted")),
        element("div", {class: "t"}, element("ins", {}, rich(turn.text, [], values, "ins"))));
    } else {
      row.append(element("div", {class: "t one"}, rich(turn.text, [], values, "ins")));
    }
    const lost = values.filter(([start]) => start === null);
    const chips = [
      ...(turn.skip ? [element("span", {class: "chip"}, `left as it was: ${turn.skip.replaceAll("_", " ")}`)] : []),
      ...lost.map(([, , label]) => element("span", {class: "chip", style: "color:var(--lost)"}, `lost: ${label}`)),
      ...(turn.knowledge ?? []).map((snippet) => element("span", {class: "chip"}, `knowledge: ${snippet}`)),
      ...(turn.labels ?? []).map((label) => element("span", {class: "chip"}, label)),
      ...(turn.state ?? []).map((entry) => element("span", {class: "chip"}, `state: ${entry}`)),
    ];
    if (chips.length) row.append(element("div", {class: "meta"}, ...chips));
    if (turn.audio) row.append(element("div", {class: "meta"}, element("audio", {controls: true, preload: "none", src: turn.audio, "aria-label": `Turn ${turn.n} as it was spoken`})));
    return row;
  }

  function card(example, only) {
    const touched = (turn) => turn.was !== undefined || turn.inserted;
    const turns = only ? example.turns.filter(touched) : example.turns;
    const pairs = example.turns.some(touched);
    return element("article", {class: "card example", lang: example.language},
      element("header", {lang: "en"}, element("h3", {}, element("a", {href: address({example: example.id})}, example.id)),
        ...example.outcomes.map((name) => element("span", {class: "chip o", style: `--c:${COLORS[name]}`}, OUTCOMES[name])),
        ...[example.suite, example.split, ...example.domains].filter(Boolean).map((name) => element("span", {class: "chip"}, name))),
      element("p", {class: "steps", lang: "en"}, (example.steps ?? []).join(" → ")),
      element("ol", {class: "turns"},
        pairs ? element("li", {class: "heads", "aria-hidden": "true"}, element("span"), element("span", {}, "source"), element("span", {}, "variant")) : null,
        ...turns.map(turnRow),
        example.left_out && !only ? element("li", {}, element("span"), element("span", {class: "soft one"}, `and ${example.left_out} more turns`)) : null));
  }

  let page = 0;
  let alone = "";
  const wanted = () => (alone ? {example: alone} : {...Object.fromEntries(NAMES.map((name) => [name, form.elements[name].value])), words: form.elements.words.value.trim()});
  const state = () => ({...wanted(), only: form.elements.only.checked ? "1" : "", page: page ? String(page + 1) : ""});

  function show() {
    const found = fitting(wanted());
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    const start = page * PAGE;
    const now = found.slice(start, start + PAGE);
    document.getElementById("shown").replaceChildren(...(now.length ? now.map((example) => card(example, form.elements.only.checked))
      : [element("p", {class: "nothing card"}, "No example fits these filters.")]));
    for (const pager of document.querySelectorAll(".pager")) {
      pager.querySelector("output").textContent = found.length ? `${number(start + 1)}–${number(start + now.length)} of ${number(found.length)}` : "none";
      pager.querySelector("[data-step='-1']").disabled = page === 0;
      pager.querySelector("[data-step='1']").disabled = page >= pages - 1;
    }
    const download = document.getElementById("download");
    download.textContent = `Download ${found.length === 1 ? "this example" : `these ${number(found.length)} examples`} (JSONL)`;
    download.disabled = !found.length;
    document.getElementById("every").hidden = address(wanted()) === "#examples";
  }
  function changed() {
    show();
    // In the place of the former one: a way back through every letter that was typed is none.
    try { history.replaceState(null, "", address(state())); } catch { /* a page that is shown without an address of its own */ }
  }
  // Takes the filters from the address, where it has any.
  function follow() {
    const [section, said] = location.hash.slice(1).split("?");
    if (section !== "examples" || said === undefined) return;
    const asked = new URLSearchParams(said);
    for (const name of NAMES) {
      const value = asked.get(name) ?? "";
      form.elements[name].value = [...form.elements[name].options].some((option) => option.value === value) ? value : "";
    }
    form.elements.words.value = asked.get("words") ?? "";
    form.elements.only.checked = asked.get("only") === "1";
    alone = asked.get("example") ?? "";
    page = (Number.parseInt(asked.get("page") ?? "1", 10) || 1) - 1;
    show();
    document.getElementById("examples").scrollIntoView({block: "start"});
  }
  function save() {
    const lines = fitting(wanted()).map((example) => JSON.stringify({
      dialogue_id: example.id, suite: example.suite, split: example.split, language: example.language, domains: example.domains, outcomes: example.outcomes, steps: example.steps,
      turns: example.turns.map((turn) => ({turn: turn.n, speaker: turn.who, utterance: turn.text, original: turn.was, edits: turn.edits, inserted: turn.inserted, left_alone: turn.skip,
        spans: turn.values?.map(([start, end, slot, status]) => ({start, end, slot, status})), labels: turn.labels, state: turn.state})),
    }) + "\n");
    const link = element("a", {href: URL.createObjectURL(new Blob(lines, {type: "application/jsonl"})), download: "examples.jsonl"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
  form.addEventListener("input", () => { page = 0; alone = ""; changed(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("download").addEventListener("click", save);
  document.getElementById("every").addEventListener("click", () => { form.reset(); page = 0; alone = ""; changed(); });
  for (const pager of document.querySelectorAll(".pager")) {
    pager.addEventListener("click", (event) => {
      const step = Number(event.target.dataset.step ?? 0);
      if (!step) return;
      page += step;
      changed();
      document.getElementById("filters").scrollIntoView({block: "start"});
    });
  }
  window.addEventListener("hashchange", follow);
  show();
  follow();
})();
