"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const stage = $("stage");
  const frame = $("frame");
  const panel = $("panel");
  const extra = $("extra");
  const search = $("search");
  const SVG = "http://www.w3.org/2000/svg";
  const FAR = 0.5;
  const LARGEST = 3;

  const cardShapes = [...stage.querySelectorAll("[data-card]")];
  const linkShapes = data.links.map(() => []);
  for (const shape of stage.querySelectorAll("[data-link]")) {
    linkShapes[Number(shape.dataset.link)].push(shape);
  }
  const into = data.cards.map(() => []);
  const outOf = data.cards.map(() => []);
  data.links.forEach((link, number) => {
    outOf[link.ends[0]].push(number);
    into[link.ends[1]].push(number);
  });

  // ---- the window on the picture ----

  let untouched = true;
  let view = { x: 0, y: 0, w: data.size[0], h: data.size[1] };

  const pixels = () => {
    const box = frame.getBoundingClientRect();
    return { w: Math.max(box.width, 1), h: Math.max(box.height, 1) };
  };
  const scale = () => pixels().w / view.w;

  const show = (next) => {
    view = next;
    stage.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    stage.classList.toggle("far", scale() < FAR);
  };

  const covered = () => {
    const legend = frame.querySelector(".legend");
    return legend && legend.offsetHeight ? legend.offsetHeight + 12 : 0;
  };

  const fitScale = () => {
    const { w, h } = pixels();
    return Math.min(w / data.size[0], Math.max(h - covered(), 50) / data.size[1]);
  };

  const fit = () => {
    const { w, h } = pixels();
    const zoom = Math.min(fitScale(), 1.25);
    show({
      x: (data.size[0] - w / zoom) / 2, y: (data.size[1] - (h - covered()) / zoom) / 2,
      w: w / zoom, h: h / zoom,
    });
  };

  const zoomAt = (factor, px, py) => {
    const { w, h } = pixels();
    const least = Math.min(fitScale() * 0.6, 1);
    const zoom = Math.min(Math.max(scale() * factor, least), LARGEST);
    const x = view.x + (px / w) * view.w;
    const y = view.y + (py / h) * view.h;
    show({ x: x - px / zoom, y: y - py / zoom, w: w / zoom, h: h / zoom });
  };

  const zoomMiddle = (factor) => {
    const { w, h } = pixels();
    zoomAt(factor, w / 2, h / 2);
  };

  const pan = (dx, dy) =>
    show({ ...view, x: view.x - dx / scale(), y: view.y - dy / scale() });

  const reveal = (numbers, zoomIn) => {
    const boxes = numbers.map((number) => data.cards[number].box);
    const left = Math.min(...boxes.map((box) => box[0])) - 40;
    const top = Math.min(...boxes.map((box) => box[1])) - 40;
    const right = Math.max(...boxes.map((box) => box[0] + box[2])) + 40;
    const bottom = Math.max(...boxes.map((box) => box[1] + box[3])) + 40;
    const inside = left >= view.x && top >= view.y && right <= view.x + view.w
      && bottom <= view.y + view.h;
    if (inside && !(zoomIn && scale() < FAR)) return;
    const { w, h } = pixels();
    const room = Math.min(w / (right - left), h / (bottom - top));
    const zoom = Math.min(zoomIn ? Math.max(scale(), 0.9) : scale(), room);
    show({
      x: (left + right - w / zoom) / 2, y: (top + bottom - h / zoom) / 2,
      w: w / zoom, h: h / zoom,
    });
  };

  // ---- the side panel: text only ever becomes text ----

  const element = (tag, parent, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };

  const button = (parent, text, action) => {
    const made = element("button", parent, text, "plain-button");
    made.type = "button";
    made.addEventListener("click", action);
    return made;
  };

  const TOKENS = /('(?:[^'\\]|\\.)*')|(`[^`]*`)|\b([A-Z]{2,}(?: BY)?)\b/g;

  const paint = (pre, text) => {
    let last = 0;
    for (const match of text.matchAll(TOKENS)) {
      if (match[2] !== undefined) continue;
      pre.append(text.slice(last, match.index));
      element("span", pre, match[0], match[1] !== undefined ? "text" : "word");
      last = match.index + match[0].length;
    }
    pre.append(text.slice(last));
  };

  const copy = (pre) => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(pre.textContent).catch(() => {});
  };

  const tell = (detail, ends) => {
    panel.replaceChildren();
    const heading = element("h2", panel);
    if (ends) {
      ends.forEach((number, place) => {
        if (place) heading.append(" → ");
        button(heading, data.cards[number].title, () => choose({ card: number }));
      });
    } else {
      heading.textContent = detail.heading;
    }
    if (detail.subtitle) element("p", panel, detail.subtitle, "subtitle");
    const facts = element("dl", panel);
    for (const [name, value] of detail.facts) {
      element("dt", facts, name);
      element("dd", facts, value);
    }
    for (const note of detail.notes) element("p", panel, note, "note");
    for (const [caption, text] of detail.code) {
      const title = element("h3", panel, caption);
      const pre = element("pre", panel);
      paint(pre, text);
      button(title, "copy", () => copy(pre));
    }
    for (const grid of detail.grids) tellGrid(grid);
    panel.scrollTop = 0;
  };

  const tellGrid = (grid) => {
    element("h3", panel, grid.caption);
    const table = element("table", element("div", panel, undefined, "scroll"));
    const header = element("tr", element("thead", table));
    const kind = (place) => (grid.numeric.includes(place) ? "number" : "");
    grid.header.forEach((name, place) => element("th", header, name, kind(place)));
    const body = element("tbody", table);
    grid.rows.forEach((row, index) => {
      const line = element("tr", body);
      row.forEach((text, place) => {
        const cell = element("td", line, undefined, kind(place));
        const target = place === 0 && grid.goto[index] && find(grid.goto[index]);
        if (target) button(cell, text, () => choose(target));
        else cell.textContent = text;
      });
    });
  };

  // ---- looking at and choosing things ----

  const byName = new Map();
  data.cards.forEach((card, number) => {
    if (!byName.has(card.title)) byName.set(card.title, number);
  });
  data.cards.forEach((card, number) => byName.set(card.id, number));

  const findLink = (source, target) => {
    const from = byName.get(source);
    const to = byName.get(target);
    const same = (card, number) => card === number || (card !== undefined
      && data.cards[card].title === data.cards[number].title);
    const found = data.links.findIndex((link) => link.ends[0] === from && link.ends[1] === to);
    if (found >= 0) return found;
    return data.links.findIndex(({ ends }) => same(from, ends[0]) && same(to, ends[1]));
  };

  const find = (names) => {
    if (names.length === 1) {
      const card = byName.get(names[0]);
      return card === undefined ? null : { card };
    }
    const link = findLink(names[0], names[1]);
    return link < 0 ? null : { link };
  };

  let chosen = null;

  const clear = () => {
    for (const shape of stage.querySelectorAll(".lit, .chosen")) {
      shape.classList.remove("lit", "chosen");
    }
    extra.replaceChildren();
  };

  const lightLink = (number) => {
    const link = data.links[number];
    linkShapes[number].forEach((shape) => shape.classList.add("lit"));
    link.ends.forEach((end) => cardShapes[end].classList.add("lit"));
    if (link.drawn) return;
    const [from, to] = link.ends.map((end) => data.cards[end].box);
    const x0 = from[0] + from[2] / 2, y0 = from[1] + from[3];
    const x1 = to[0] + to[2] / 2, y1 = to[1];
    const bow = Math.max((y1 - y0) / 2, 20);
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", "wire");
    path.setAttribute("stroke-dasharray", "5 4");
    path.setAttribute("d", `M${x0} ${y0}C${x0} ${y0 + bow} ${x1} ${y1 - bow} ${x1} ${y1}`);
    extra.append(path);
  };

  const light = (thing) => {
    clear();
    if (thing.link !== undefined) {
      lightLink(thing.link);
      linkShapes[thing.link].forEach((shape) => shape.classList.add("chosen"));
      return;
    }
    cardShapes[thing.card].classList.add("lit", "chosen");
    [...into[thing.card], ...outOf[thing.card]].forEach(lightLink);
    let above = thing.card;
    for (let steps = 0; steps < data.cards.length; steps += 1) {
      const way = into[above].find((number) => data.links[number].strong);
      if (way === undefined) break;
      lightLink(way);
      above = data.links[way].ends[0];
    }
  };

  const describe = (thing) => {
    if (thing === null) tell(data.overview);
    else if (thing.link !== undefined) {
      tell(data.links[thing.link].detail, data.links[thing.link].ends);
    } else tell(data.cards[thing.card].detail);
  };

  const hashOf = (thing) => {
    if (thing === null) return "";
    const name = (number) => encodeURIComponent(data.cards[number].id);
    if (thing.link === undefined) return `#view=${name(thing.card)}`;
    const [from, to] = data.links[thing.link].ends;
    return `#edge=${name(from)},${name(to)}`;
  };

  const choose = (thing, options = {}) => {
    chosen = thing;
    stage.classList.toggle("focused", thing !== null);
    if (thing === null) clear();
    else {
      light(thing);
      const ends = thing.link === undefined ? [thing.card] : data.links[thing.link].ends;
      untouched = false;
      reveal(ends, options.zoomIn !== false);
      const target = ends[ends.length - 1];
      cardShapes.forEach((shape, number) => {
        shape.setAttribute("tabindex", number === target ? "0" : "-1");
      });
      if (options.focus) cardShapes[target].focus({ preventScroll: true });
    }
    describe(thing);
    if (options.hash !== false && hashOf(thing) !== location.hash) {
      history.replaceState(null, "", hashOf(thing) || location.pathname + location.search);
    }
  };

  const fromHash = () => {
    const match = /^#(view|fact|edge)=(.*)$/.exec(location.hash);
    if (!match) return null;
    try {
      const names = match[2].split(",").map(decodeURIComponent);
      return find(match[1] === "fact" ? [`fact ${names[0]}`] : names);
    } catch {
      return null;
    }
  };

  const under = (event) => {
    const shape = event.target.closest("[data-card], [data-link]");
    if (!shape) return null;
    return shape.dataset.card !== undefined
      ? { card: Number(shape.dataset.card) } : { link: Number(shape.dataset.link) };
  };

  let waiting = 0;
  const preview = (thing) => {
    clearTimeout(waiting);
    if (chosen !== null) return;
    waiting = setTimeout(() => {
      if (thing) light(thing);
      else clear();
      describe(thing);
    }, thing ? 60 : 250);
  };

  // ---- mouse, touch and keys ----

  const fingers = new Map();
  let moved = 0;
  let spread = 0;

  const at = (event) => {
    const box = frame.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  stage.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, at(event));
    moved = 0;
    spread = 0;
  });
  window.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = fingers.get(event.pointerId);
    const now = at(event);
    fingers.set(event.pointerId, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (fingers.size === 1) {
      if (moved < 4) return;
      stage.classList.add("dragging");
      pan(now.x - before.x, now.y - before.y);
    } else {
      const [one, two] = [...fingers.values()];
      const apart = Math.hypot(one.x - two.x, one.y - two.y);
      if (spread > 0) zoomAt(apart / spread, (one.x + two.x) / 2, (one.y + two.y) / 2);
      spread = apart;
    }
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    spread = 0;
    if (fingers.size === 0) stage.classList.remove("dragging");
  };
  window.addEventListener("pointerup", lift);
  window.addEventListener("pointercancel", lift);
  stage.addEventListener("click", (event) => {
    if (moved >= 4) return;
    choose(under(event), { zoomIn: false });
  });
  stage.addEventListener("dblclick", (event) => {
    if (under(event) === null) fit();
  });
  stage.addEventListener("pointerover", (event) => preview(under(event)));
  stage.addEventListener("pointerleave", () => preview(null));
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    const { x, y } = at(event);
    zoomAt(Math.exp(-Math.max(-120, Math.min(120, step)) * 0.0022), x, y);
  }, { passive: false });

  const nearest = (from, dx, dy) => {
    const middle = (box) => [box[0] + box[2] / 2, box[1] + box[3] / 2];
    const [x, y] = middle(data.cards[from].box);
    let best = null;
    let least = Infinity;
    data.cards.forEach((card, number) => {
      const [cx, cy] = middle(card.box);
      const along = (cx - x) * dx + (cy - y) * dy;
      const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
      if (along < 1 || (dx && aside > 60 && aside > along * 0.5)) return;
      const far = along + (dx ? aside * 3 : aside * 0.6);
      if (far < least) [best, least] = [number, far];
    });
    return best;
  };

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  stage.addEventListener("keydown", (event) => {
    const shape = event.target.closest("[data-card]");
    if (!shape) return;
    const number = Number(shape.dataset.card);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose({ card: number }, { focus: true });
    } else if (ARROWS[event.key] && !event.shiftKey) {
      event.preventDefault();
      event.stopPropagation();
      const next = nearest(number, ...ARROWS[event.key]);
      if (next !== null) choose({ card: next }, { focus: true });
    } else if (event.key === "e") {
      event.preventDefault();
      const ways = into[number];
      const place = chosen && chosen.link !== undefined ? ways.indexOf(chosen.link) : -1;
      if (ways.length) choose({ link: ways[(place + 1) % ways.length] }, { focus: true });
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (search.value) {
        search.value = "";
        look();
      } else choose(null);
      return;
    }
    if (event.target instanceof HTMLInputElement) return;
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (event.key === "+" || event.key === "=") zoomMiddle(1.25);
    else if (event.key === "-") zoomMiddle(0.8);
    else if (event.key === "0") fit();
    else if (ARROWS[event.key] && !panel.contains(event.target)) {
      event.preventDefault();
      const [dx, dy] = ARROWS[event.key];
      pan(-dx * 80, -dy * 80);
    }
  });

  // ---- search ----

  const columnsOf = (detail) => detail.grids.filter((grid) => grid.goto.length === 0)
    .flatMap((grid) => grid.rows.map((row) => row[0]));
  const words = data.cards.map(({ title, detail }) =>
    [title, ...columnsOf(detail)].map((word) => word.toLowerCase()));
  let hits = [];
  let hit = -1;

  const look = () => {
    const text = search.value.trim().toLowerCase();
    const rank = (number) => {
      const [title, ...columns] = words[number];
      if (title.startsWith(text)) return 0;
      if (title.includes(text)) return 1;
      return columns.includes(text) ? 2 : 3;
    };
    hits = text === "" ? [] : [...words.keys()]
      .filter((number) => words[number].some((word) => word.includes(text)))
      .sort((one, two) => rank(one) - rank(two));
    hit = -1;
    stage.classList.toggle("searching", text !== "");
    cardShapes.forEach((shape) => shape.classList.remove("hit"));
    hits.forEach((number) => cardShapes[number].classList.add("hit"));
    $("found").value = text === "" ? "" : `${hits.length} found`;
  };

  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || hits.length === 0) return;
    hit = (hit + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
    choose({ card: hits[hit] });
    stage.classList.remove("focused");
    $("found").value = `${hit + 1} of ${hits.length}`;
  });

  // ---- the rest ----

  $("in").addEventListener("click", () => zoomMiddle(1.25));
  $("out").addEventListener("click", () => zoomMiddle(0.8));
  $("fit").addEventListener("click", fit);
  $("faint").addEventListener("change", (event) => {
    stage.classList.toggle("no-faint", !event.target.checked);
  });
  let lastWidth = pixels().w;
  new ResizeObserver(() => {
    const { w, h } = pixels();
    const wide = view.w * (w / lastWidth);
    lastWidth = w;
    if (untouched) fit();
    else show({ ...view, w: wide, h: (wide * h) / w });
  }).observe(frame);
  for (const kind of ["wheel", "pointerdown", "keydown"]) {
    window.addEventListener(kind, () => { untouched = false; }, { once: true, capture: true });
  }
  window.addEventListener("hashchange", () => choose(fromHash(), { hash: false }));
  let beforePrint = view;
  window.addEventListener("beforeprint", () => {
    beforePrint = view;
    stage.setAttribute("viewBox", `0 0 ${data.size[0]} ${data.size[1]}`);
    stage.classList.remove("far");
  });
  window.addEventListener("afterprint", () => show(beforePrint));

  cardShapes.forEach((shape, number) => shape.setAttribute("tabindex", number ? "-1" : "0"));
  fit();
  choose(fromHash(), { hash: false });
  document.documentElement.dataset.ready = "yes";
})();
