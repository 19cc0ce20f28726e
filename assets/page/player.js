// Plays a page that gemmviz exported: draws the scene's primitives on a canvas. Uses no library and no network.

const ARRIVAL = 0.85;
const SPEEDS = [0.2, 0.5, 1, 2, 4, 8, 16, 30];
const WAY_S = 0.7, BEAT_S = 0.8; // seconds of the way to the next picture, and of its beat
const GONE = 0.55, COMES = 0.25, STAGGER = 0.35, MOST_SQUARES = 1024; // as in scenes/kit/transition.py

const eased = (share) => share * share * (3 - 2 * share);

export async function unpacked(text) {
  const plain = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** The entries of a palette, a character each. */
const entriesOf = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0) - 35);

const signed = (number) => (number % 2 ? -(number + 1) / 2 : number / 2);

/** Decodes the lists of primitives of all steps: an even code leads to a place in the list before, an odd one to a primitive. */
function decodeLists(steps) {
  const before = {};
  let fresh = 0;
  const decoded = (slot, codes) => {
    const old = before[slot] ?? [];
    let place = 0;
    return (before[slot] = codes.map((code) => {
      if (code % 2) return (fresh += signed((code - 1) / 2) + 1) - 1;
      place += signed(code / 2) + 1;
      return old[place - 1];
    }));
  };
  for (const step of steps) {
    for (const still of [step.before, step.after]) [still[0], still[1]] = [decoded("below", still[0]), decoded("above", still[1])];
    if (step.motion) step.motion = step.motion.map((sample) => decoded("motion", sample));
  }
}

/** Decodes a table: the page stores it by columns, as differences, in parts of a unit. Returns its values by rows. */
function rowsOf([columns, parts, ...steps]) {
  const rows = steps.length / columns, table = new Array(steps.length);
  for (let column = 0; column < columns; column++) {
    for (let row = 0, value = 0; row < rows; row++) {
      value += steps[column * rows + row];
      table[row * columns + column] = value / parts;
    }
  }
  return table;
}

/** The state of the player: the step, the selected threads, and the primitives to draw. */
export class Replay {
  constructor(data) {
    this.data = data;
    decodeLists(data.steps);
    [this.families, this.fonts] = familiesOf(data.fonts);
    this.step = data.start;
    this.moment = 1;
    this.elapsed = 1; // share of the step that has been played
    this.theme = data.theme;
    this.speed = this.isLesson ? 0.2 : 2;
    this.held = 0; // seconds that a picture of a lesson has been shown while playing
    this.isPlaying = false;
    this.watched = null; // {first, last} of the block's threads
    this.passage = null; // the way from the picture before
    this.passed = 0; // seconds of the motion of a step that was taken by hand
    this.isMoving = false;
    this.fills = new Map();
    this.decoded = new Map();
    const elements = (data.facts.elements ?? []).map((steps) => {
      let value = 0;
      return steps.map((step) => (value += step));
    });
    this.elements = (data.facts.order ?? []).map((at) => elements[at]);
  }

  get steps() {
    return this.data.steps.length;
  }

  get now() {
    return this.data.steps[this.step];
  }

  colour(number) {
    return number < 0 ? null : this.data.colours[number][this.theme === "light" ? 1 : 0];
  }

  go(step, moment = 1) {
    [this.isMoving, this.passage, this.held] = [false, null, 0];
    this.step = Math.max(0, Math.min(this.steps - 1, step));
    this.moment = this.elapsed = moment;
  }

  /** Whether the steps are pictures of a lesson rather than steps of a run. */
  get isLesson() {
    return this.data.steps.some((step) => step.way);
  }

  /** Goes to the next step. In a lesson it arrives in motion, and a motion that is under way is finished first. */
  forward(isCalm) {
    const before = this.primitives, isNext = !this.isMoving && this.step + 1 < this.steps;
    this.go(this.step + (isNext ? 1 : 0));
    if (!isNext || isCalm || !this.isLesson) return;
    this.moment = this.now.motion ? 0 : 1;
    this.passage = this.now.way ? new Passage(this, before, this.primitives, this.now.way === "morph") : null;
    [this.passed, this.isMoving] = [0, this.passage !== null || this.moment < 1];
  }

  /** Continues the motion of a step: the way to its picture, then its beat. */
  move(seconds) {
    this.passed += seconds;
    if (this.passage && this.passed < WAY_S) return;
    if (this.passage) [this.passage, this.passed] = [null, this.passed - WAY_S];
    this.moment = this.now.motion ? Math.min(1, this.passed / BEAT_S) : 1;
    this.isMoving = this.moment < 1;
  }

  /** Primitives in painting order, each with its opacity. */
  get painted() {
    return this.passage ? this.passage.at(this.passed / WAY_S) : this.primitives.map((each) => [each, 1]);
  }

  phase(direction, isCalm) {
    if (this.isLesson) return direction > 0 ? this.forward(isCalm) : this.go(this.step - 1);
    const starts = this.data.steps.flatMap((step, at) => (at === 0 || step.phase !== this.data.steps[at - 1].phase ? [at] : []));
    const next = direction > 0 ? starts.find((at) => at > this.step) : starts.filter((at) => at < this.step).pop();
    this.go(next ?? (direction > 0 ? this.steps - 1 : 0));
  }

  /** Plays on. A picture of a lesson arrives as it does by hand, and is then shown for the time of a step. If calm, nothing
   * moves within a step.
   */
  advance(seconds, isCalm) {
    if (!this.isPlaying) return false;
    if (this.isLesson && this.isMoving) this.move(seconds);
    else if (this.isLesson) this.hold(seconds, isCalm);
    if (this.isLesson) return true;
    const at = (this.step + this.elapsed + seconds * this.speed) % this.steps;
    this.step = Math.floor(at);
    this.elapsed = at - this.step;
    this.moment = isCalm ? 1 : this.elapsed;
    return true;
  }

  hold(seconds, isCalm) {
    this.held += seconds;
    if (this.held < 1 / this.speed) return;
    if (this.step + 1 < this.steps) this.forward(isCalm);
    else this.go(0);
  }

  get primitives() {
    const still = this.moment >= ARRIVAL ? this.now.after : this.now.before;
    const [below, above] = still;
    return [...below.map((at) => this.primitive(at)), ...this.motion(), ...above.map((at) => this.primitive(at))];
  }

  /** Returns a primitive: its look, its boxes and its texts. The same number gives the same object. */
  primitive(number) {
    if (!this.decoded.has(number)) {
      const [look, boxes, texts] = this.data.primitives[number];
      this.decoded.set(number, { ...this.data.parts[look], ...(boxes && { b: rowsOf(boxes) }), ...(texts && { s: texts }) });
    }
    return this.decoded.get(number);
  }

  /** What moves, above its trail: where copies were shortly before, fading. */
  motion() {
    const under = this.moment > 0 && this.moment < ARRIVAL ? this.data.trail : [];
    const trail = under.flatMap(([ago, alpha]) => {
      const before = this.moving(Math.max(0, this.moment - ago)).filter((each) => each.v === "moving");
      return before.map((each) => ({ ...each, l: undefined, alpha }));
    });
    return [...trail, ...this.moving(this.moment)];
  }

  /** Primitives in motion, interpolated between the two samples around a moment if both samples contain them. */
  moving(moment) {
    const moments = this.data.moments, next = moments.findIndex((each) => each > moment);
    if (next < 1 || !this.now.motion) return [];
    const along = (moment - moments[next - 1]) / (moments[next] - moments[next - 1]);
    const [from, to] = [this.now.motion[next - 1], this.now.motion[next]].map((list) => list.map((at) => this.primitive(at)));
    const ends = new Map(to.map((each) => [each.k, each]));
    return from.map((each) => between(each, ends.get(each.k), along));
  }

  fill(cells) {
    if (cells.own) return cells.own;
    if (!this.fills.has(cells.f)) this.fills.set(cells.f, entriesOf(this.data.parts[cells.f]));
    return this.fills.get(cells.f);
  }

  /** The labels of cells or squares. */
  texts(cells) {
    return typeof cells.l === "number" ? this.data.parts[cells.l] : cells.l;
  }

  /** Yields [array, thread, element] for each access of this step. Threads are numbered across all blocks. */
  *touches() {
    for (const row of this.now.rows ?? []) {
      const elements = this.elements[row.row];
      for (let thread = 0; thread < elements.length; thread++) {
        if (elements[thread] < 0) continue;
        const lane = (thread % this.data.facts.threads) % this.data.facts.warp;
        for (const offset of row.offsets[lane % row.offsets.length]) yield [row.array, thread, elements[thread] + offset];
      }
    }
  }

  isOfOwnBlock(thread) {
    return Math.floor(thread / this.data.facts.threads) === this.data.facts.own;
  }

  isWatched(thread) {
    return this.watched === null || (thread >= this.watched.first && thread <= this.watched.last);
  }

  /** Row and column of an element in its table. */
  place(array, element) {
    const columns = array.columns, rows = array.rows;
    if (!array.columnMajor) return [Math.floor(element / columns), element % columns];
    const matrix = Math.floor(element / (rows * columns)), inside = element % (rows * columns);
    return [matrix * rows + inside % rows, Math.floor(inside / rows)];
  }

  table(array) {
    return this.primitives.find((each) => each.t === "c" && each.v === `${array.space} ${array.name}`);
  }

  hit(x, y) {
    return this.primitives.filter((each) => each.t === "c").reverse().find((each) => {
      const [rows, columns] = each.n;
      return x >= each.x && y >= each.y && x < each.x + columns * each.s && y < each.y + rows * each.h;
    });
  }

  /** A description of the cell at a point; "" if there is none. */
  describe(x, y) {
    const cells = this.hit(x, y);
    if (!cells || !this.data.facts.arrays) return "";
    const array = this.data.facts.arrays.find((each) => cells.v === `${each.space} ${each.name}`);
    if (!array) return "";
    const row = Math.floor((y - cells.y) / cells.h + cells.o[0]) * cells.m, column = Math.floor((x - cells.x) / cells.s + cells.o[1]) * cells.m;
    const here = [...this.touches()].filter(([number, , element]) => {
      const [r, c] = this.place(this.data.facts.arrays[number], element);
      return this.data.facts.arrays[number] === array && r >= row && r < row + cells.m && c >= column && c < column + cells.m;
    });
    const first = this.data.facts.own * this.data.facts.threads;
    const threads = [...new Set(here.filter(([, thread]) => this.isOfOwnBlock(thread)).map(([, thread]) => thread - first))];
    const name = cells.m > 1 ? `${array.name}[${row}…${row + cells.m - 1}, ${column}…${column + cells.m - 1}]` : `${array.name}[${row}, ${column}]`;
    if (!threads.length) return name;
    const shown = threads.slice(0, 12).join(", ") + (threads.length > 12 ? " …" : "");
    const text = threads.length > 1 ? "{cell}: threads {threads} of the block in this step" : "{cell}: thread {threads} of the block in this step";
    return said(this.data, text, { cell: name, threads: shown });
  }
}

/** The way from one picture to the next: what both have moves, what only one has fades. */
export class Passage {
  constructor(replay, before, after, moves) {
    this.replay = replay;
    this.parts = []; // [fate, primitive or function of the share]
    const old = keyed(before), fresh = keyed(after), list = [...old], places = new Map([...old.keys()].map((key, at) => [key, at]));
    let passed = 0;
    const leave = (end) => list.slice(passed, end).forEach(([key, each]) => fresh.has(key) || this.parts.push(["goes", each]));
    for (const [key, each] of fresh) {
      if (!old.has(key)) {
        this.parts.push(["comes", each]);
        continue;
      }
      leave(places.get(key));
      passed = Math.max(passed, places.get(key) + 1);
      this.both(old.get(key), each, moves || each.v === "band");
    }
    leave(list.length);
  }

  both(one, other, moves) {
    if (one === other) return this.parts.push(["stays", other]);
    const parts = moves ? this[other.t](one, other) : null;
    this.parts.push(...(parts ?? [["goes", one], ["comes", other]]));
  }

  /** Primitives in painting order, each with its opacity, when a share of the time has passed. */
  at(share) {
    const opacity = { stays: 1, goes: 1 - eased(Math.min(1, share / GONE)), comes: eased(Math.max(0, (share - COMES) / (1 - COMES))) };
    return this.parts.flatMap(([fate, each]) => (fate === "moves" ? each(share) : [[each, opacity[fate]]])).filter(([, shown]) => shown > 0);
  }

  r(one, other) {
    const both = Math.min(one.b.length, other.b.length), [a, b] = [one, other].map((each) => ({ ...each, b: each.b.slice(0, both) }));
    if (!both) return null;
    const rest = [["goes", one], ["comes", other]].map(([fate, each]) => [fate, { ...each, b: each.b.slice(both) }]);
    return [...rest.filter(([, each]) => each.b.length), ["moves", (share) => [[nearer(a, b, share, { b: mixed(a.b, b.b, eased(share)) }), 1]]]];
  }

  l(one, other) {
    if (one.b.length !== other.b.length) return null;
    return [["moves", (share) => [[nearer(one, other, share, { b: mixed(one.b, other.b, eased(share)) }), 1]]]];
  }

  t(one, other) {
    const [mine, theirs] = one.a === other.a && one.f === other.f ? common(one.s, other.s) : [[], []];
    if (!mine.length) return null;
    const [a, b] = [rows(one, mine), rows(other, theirs)], parts = [];
    for (const [fate, each, used] of [["goes", one, mine], ["comes", other, theirs]]) {
      const left = each.s.map((_, at) => at).filter((at) => !used.includes(at));
      if (left.length) parts.push([fate, rows(each, left)]);
    }
    const size = (share) => a.z + (b.z - a.z) * eased(share);
    parts.push(["moves", (share) => [[nearer(a, b, share, { b: mixed(a.b, b.b, eased(share)), z: size(share) }), 1]]]);
    return parts;
  }

  q(one, other) {
    if (one.b.length !== other.b.length) return null;
    return [["moves", (share) => [[nearer(one, other, share, { b: staggered(one.b, other.b, share) }), 1]]]];
  }

  c(one, other) {
    const [mine, theirs] = shared(this.things(one), this.things(other)), isSame = one.n.join() === other.n.join();
    if (isSame && mine.join() === theirs.join()) return [["moves", (share) => tables(one, other, eased(share))]];
    const isSquare = [one, other].every((each) => Math.max(each.s, each.h) <= 1.05 * Math.min(each.s, each.h));
    if (!mine.length || mine.length > MOST_SQUARES || !isSquare) return null;
    const [a, b] = [this.without(one, mine), this.without(other, theirs)], [c, d] = [this.squares(one, mine), this.squares(other, theirs)];
    const ground = isSame ? [["moves", (share) => tables(a, b, eased(share))]] : [["goes", a], ["comes", b]];
    return [...ground, ["moves", (share) => [[nearer(c, d, share, { b: staggered(c.b, d.b, share) }), 1]]]];
  }

  /** What the cells of a table stand for: their ids, else their labels; "" for nothing. */
  things(cells) {
    if (cells.e !== undefined) return this.replay.data.parts[cells.e].map((id) => (id < 0 ? "" : id));
    return cells.l === undefined ? [] : this.replay.texts(cells);
  }

  squares(cells, places) {
    const fill = this.replay.fill(cells), texts = cells.l === undefined ? undefined : this.replay.texts(cells);
    const b = places.flatMap((at) => [cells.x + (at % cells.n[1]) * cells.s, cells.y + Math.floor(at / cells.n[1]) * cells.h, cells.s]);
    return { ...cells, t: "q", b, own: Uint8Array.from(places, (at) => fill[at]), l: texts && places.map((at) => texts[at]) };
  }

  /** A table without cells that move: they look like most of the others. */
  without(cells, places) {
    const own = this.replay.fill(cells).slice(), moved = new Set(places), counts = new Array(256).fill(0);
    own.forEach((entry, at) => moved.has(at) || counts[entry]++);
    places.forEach((at) => (own[at] = counts.indexOf(Math.max(...counts))));
    const texts = cells.l === undefined ? undefined : this.replay.texts(cells).map((text, at) => (moved.has(at) ? "" : text));
    return { ...cells, own, f: `${cells.f} ${cells.k} ${places.join()}`, l: texts };
  }
}

/** Primitives by type, key and number among those with the same key. */
function keyed(primitives) {
  const counts = new Map(), found = new Map();
  for (const each of primitives) {
    const kind = `${each.t} ${each.k}`, number = counts.get(kind) ?? 0;
    counts.set(kind, number + 1);
    found.set(`${kind} ${number}`, each);
  }
  return found;
}

const mixed = (from, to, along) => from.map((value, at) => value + (to[at] - value) * along);

const nearer = (one, other, share, changed) => ({ ...(share < 0.5 ? one : other), ...changed });

/** Squares on their way, one after the other. */
function staggered(from, to, share) {
  const last = Math.max(1, from.length / 3 - 1);
  return from.map((value, at) => {
    const own = (share - (STAGGER * Math.floor(at / 3)) / last) / (1 - STAGGER);
    return value + (to[at] - value) * eased(Math.max(0, Math.min(1, own)));
  });
}

/** A table that becomes another: the new one shows through more and more. */
function tables(one, other, along) {
  const place = Object.fromEntries(["x", "y", "s", "h", "z"].map((name) => [name, one[name] + (other[name] - one[name]) * along]));
  return [[{ ...one, ...place }, 1], [{ ...other, ...place }, along]];
}

const rows = (labels, places) => ({ ...labels, s: places.map((at) => labels.s[at]), b: places.flatMap((at) => labels.b.slice(2 * at, 2 * at + 2)) });

/** The places of texts that both lists have, in order. */
function common(one, other) {
  const mine = [], theirs = [];
  other.forEach((text, at) => {
    const found = one.indexOf(text, mine.length ? mine[mine.length - 1] + 1 : 0);
    if (found >= 0) [mine[mine.length], theirs[theirs.length]] = [found, at];
  });
  return [mine, theirs];
}

/** The places of things that both tables show once. */
function shared(one, other) {
  const [mine, theirs] = [one, other].map((things) => {
    const places = new Map();
    things.forEach((thing, at) => places.set(thing, places.has(thing) ? -1 : at));
    return places;
  });
  const both = [...mine].filter(([thing, at]) => thing !== "" && at >= 0 && (theirs.get(thing) ?? -1) >= 0);
  return [both.map(([, at]) => at), both.map(([thing]) => theirs.get(thing))];
}

function between(from, to, along) {
  if (!to || to.t !== from.t) return from;
  if (from.t === "q" && from.b.length === to.b.length) return { ...from, b: from.b.map((value, at) => value + (to.b[at] - value) * along) };
  if (from.t === "r" && from.b.length === to.b.length)
    return { ...from, w: from.w + (to.w - from.w) * along, b: from.b.map((value, at) => value + (to.b[at] - value) * along) };
  return from;
}

const ICONS = {
  first: "M12 4v16L3 12zM21 4v16l-9-8z", back: "M15 4v16L6 12zM17 4h2v16h-2z", play: "M6 4l14 8-14 8z", pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  on: "M9 4v16l9-8zM5 4h2v16H5z", enlarge: "M4 10V4h6M20 14v6h-6M4 4l6 6M20 20l-6-6", link: "M10 14l4-4M8 11l-3 3a3.5 3.5 0 0 0 5 5l3-3M16 13l3-3a3.5 3.5 0 0 0-5-5l-3 3",
  last: "M12 4v16l9-8zM3 4v16l9-8z", theme: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18v18",
};

const OUTLINED = ["theme", "enlarge", "link"];

/** Creates an element with attributes and children. A string child becomes a text node: no text is ever parsed as markup. */
/** A text in the language of the file, with values for its placeholders. */
const said = (data, text, values = {}) => (data.say?.[text] ?? text).replace(/{(\w+)}/g, (_, name) => values[name]);

function create(name, attributes = {}, ...children) {
  const element = name in SVG_TAGS ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const SVG_TAGS = { svg: true, path: true };

const icon = (name) =>
  create("svg", { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": true },
    create("path", { d: ICONS[name], fill: OUTLINED.includes(name) ? "none" : "currentColor", stroke: "currentColor" }));

const button = (action, label, key = "") => create("button", { "data-do": action, title: label + (key && ` (${key})`), "aria-label": label }, icon(action));

const WEIGHTS = { regular: 400, semibold: 600, mono: 400, wide: 400 }; // wide: characters that the other faces don't have

/** Adds the fonts of a replay under names of their own, as another replay of the document has other glyphs. Returns the CSS
 * font of each face, with X for its size, and the fonts.
 */
function familiesOf(fonts) {
  const own = Math.random().toString(36).slice(2), families = {}, added = [];
  const wide = fonts.wide ? `gemmviz-wide-${own}, ` : "";
  for (const [face, weight] of Object.entries(WEIGHTS)) {
    const name = `gemmviz-${face}-${own}`;
    families[face] = `${weight} Xpx ${name}, ${wide}${face === "mono" ? "monospace" : "sans-serif"}`;
    if (fonts[face]) added.push(new FontFace(name, Uint8Array.from(fonts[face].match(/../g), (byte) => Number.parseInt(byte, 16)), { weight: String(weight) }));
  }
  added.forEach((font) => document.fonts.add(font));
  return [families, added];
}

const ALIGN = { start: "left", middle: "center", end: "right" };

/** Draws a replay on a canvas. */
export class Painter {
  constructor(replay) {
    this.replay = replay;
    this.images = new Map();
  }

  paint(context, width, height) {
    const { data } = this.replay;
    const scale = Math.min(width / data.width, height / data.height);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.replay.colour(data.background);
    context.fillRect(0, 0, width, height);
    context.setTransform(scale, 0, 0, scale, (width - data.width * scale) / 2, (height - data.height * scale) / 2);
    for (const [each, opacity] of this.replay.painted) {
      context.globalAlpha = opacity * (each.alpha ?? 1);
      this[each.t](context, each, scale);
    }
    context.globalAlpha = 1;
    this.watch(context);
  }

  c(context, cells, scale) {
    const [rows, columns] = cells.n;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image(cells), cells.x, cells.y, columns * cells.s, rows * cells.h);
    if (cells.g >= 0 && Math.min(cells.s, cells.h) * scale >= 4) {
      context.fillStyle = this.replay.colour(cells.g);
      const thick = Math.max(1 / scale, Math.min(2 / scale, cells.s * 0.05));
      for (let at = 1; at < columns; at++) context.fillRect(cells.x + at * cells.s - thick / 2, cells.y, thick, rows * cells.h);
      for (let at = 1; at < rows; at++) context.fillRect(cells.x, cells.y + at * cells.h - thick / 2, columns * cells.s, thick);
    }
    if (cells.l !== undefined && cells.z * scale >= 6) this.labels(context, cells);
  }

  image(cells) {
    const key = `${cells.f} ${cells.p} ${this.replay.theme}`;
    if (!this.images.has(key)) {
      if (this.images.size > 600) this.images.clear();
      const [rows, columns] = cells.n, fill = this.replay.fill(cells), palette = this.replay.data.parts[cells.p];
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [columns, rows];
      const context = canvas.getContext("2d"), pixels = context.createImageData(columns, rows);
      const values = palette.map((number) => Number.parseInt(this.replay.colour(number).slice(1), 16));
      for (let at = 0; at < fill.length; at++) {
        const value = values[fill[at]];
        pixels.data.set([value >> 16, (value >> 8) & 255, value & 255, 255], 4 * at);
      }
      context.putImageData(pixels, 0, 0);
      this.images.set(key, canvas);
    }
    return this.images.get(key);
  }

  labels(context, cells) {
    const [, columns] = cells.n, fill = this.replay.fill(cells), inks = this.replay.data.parts[cells.i];
    context.font = this.replay.families.regular.replace("X", cells.z);
    context.textAlign = "center";
    this.replay.texts(cells).forEach((text, at) => {
      if (!text) return;
      context.fillStyle = this.replay.colour(inks[fill[at]]);
      context.fillText(text, cells.x + ((at % columns) + 0.5) * cells.s, cells.y + (Math.floor(at / columns) + 0.5) * cells.h + 0.3635 * cells.z);
    });
  }

  q(context, squares) {
    const palette = this.replay.data.parts[squares.p], inks = this.replay.data.parts[squares.i];
    const fill = this.replay.fill(squares), texts = squares.l === undefined ? [] : this.replay.texts(squares);
    context.font = this.replay.families.regular.replace("X", squares.z || 1);
    context.textAlign = "center";
    for (let at = 0; at < fill.length; at++) {
      const [x, y, side] = squares.b.slice(3 * at, 3 * at + 3);
      context.fillStyle = this.replay.colour(palette[fill[at]]);
      context.fillRect(x, y, side, side);
      if (squares.g >= 0) {
        context.strokeStyle = this.replay.colour(squares.g);
        context.lineWidth = 1;
        context.strokeRect(x, y, side, side);
      }
      if (texts[at]) {
        context.fillStyle = this.replay.colour(inks[fill[at]]);
        context.fillText(texts[at], x + side / 2, y + side / 2 + 0.3635 * squares.z);
      }
    }
  }

  r(context, rects) {
    for (let at = 0; at < rects.b.length; at += 4) {
      const [x, y, width, height] = rects.b.slice(at, at + 4);
      context.beginPath();
      context.roundRect(x, y, Math.max(0, width), Math.max(0, height), Math.min(rects.d, Math.abs(width) / 2, Math.abs(height) / 2));
      if (rects.c >= 0) {
        context.fillStyle = this.replay.colour(rects.c);
        context.fill();
      }
      if (rects.g >= 0) {
        context.strokeStyle = this.replay.colour(rects.g);
        context.lineWidth = rects.w;
        context.stroke();
      }
    }
  }

  l(context, lines) {
    context.beginPath();
    context.setLineDash(lines.d ? [3 * lines.w, 4 * lines.w] : []);
    for (let at = 0; at < lines.b.length; at += 4) {
      context.moveTo(lines.b[at], lines.b[at + 1]);
      context.lineTo(lines.b[at + 2], lines.b[at + 3]);
    }
    context.strokeStyle = this.replay.colour(lines.g);
    context.lineWidth = lines.w;
    context.stroke();
    context.setLineDash([]);
  }

  t(context, labels) {
    context.font = this.replay.families[labels.f].replace("X", labels.z);
    context.textAlign = ALIGN[labels.a];
    context.fillStyle = this.replay.colour(labels.c);
    labels.s.forEach((text, at) => context.fillText(text, labels.b[2 * at], labels.b[2 * at + 1]));
  }

  /** Draws rings around the elements that the selected threads access. */
  watch(context) {
    if (this.replay.watched === null) return;
    context.strokeStyle = this.replay.colour(this.replay.data.text);
    context.lineWidth = 3;
    for (const [number, thread, element] of this.replay.touches()) {
      if (!this.replay.isWatched(thread)) continue;
      const array = this.replay.data.facts.arrays[number], cells = this.replay.table(array);
      if (!cells || (array.space === "shared" && !this.replay.isOfOwnBlock(thread))) continue;
      const [row, column] = this.replay.place(array, element).map((at) => Math.floor(at / cells.m));
      const [r, c] = [row - cells.o[0], column - cells.o[1]];
      if (r >= 0 && c >= 0 && r < cells.n[0] && c < cells.n[1]) context.strokeRect(cells.x + c * cells.s, cells.y + r * cells.h, cells.s, cells.h);
    }
  }
}

const KEYS = { " ": "play", ArrowRight: "on", ArrowLeft: "back", Home: "first", End: "last", PageDown: "phaseOn", PageUp: "phaseBack", d: "theme", "+": "faster", "-": "slower" };
const SWIPE_PX = 30, PAPER_PX = 2400;

const isCalm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Creates the parts of a player in an element. */
function build(element, replay) {
  const { data } = replay, say = (text) => said(data, text);
  element.classList.add("gemmviz");
  element.style.setProperty("--ratio", data.width / data.height);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", data.name);
  const speeds = SPEEDS.map((value) => create("option", { value }, `${value} /s`));
  element.replaceChildren(
    create("canvas", { class: "live", tabindex: 0, role: "img", "aria-label": data.name, "aria-keyshortcuts": "ArrowLeft ArrowRight Home End PageUp PageDown Space" }),
    create("canvas", { class: "paper", role: "img", "aria-label": data.name, width: 0, height: 0 }),
    create("div", { class: "bar" },
      button("first", say("First step"), "Home"),
      button("back", say("Step back"), "←"),
      button("play", say("Play or pause"), "Space"),
      button("on", say("Step forward"), "→"),
      button("last", say("Last step"), "End"),
      create("input", { type: "range", min: 0, max: replay.steps - 1, value: 0, title: say("Step"), "aria-label": say("Step") }),
      create("span", { class: "at" }),
      create("select", { class: "speed", title: say("Steps per second (+ and −)"), "aria-label": say("Speed") }, ...speeds),
      create("select", { class: "threads", title: say("Threads to watch"), "aria-label": say("Threads to watch") }),
      button("theme", say("Dark or light"), "D")),
    create("p", { class: "caption", "aria-live": "polite" }),
    create("p", { class: "hover", "aria-live": "polite" }));
  fillThreads(element.querySelector(".threads"), data);
  if (replay.steps < 2) element.querySelector(".bar").hidden = true;
}

/** Shows the state of a replay in the parts of its player. */
function show(element, replay, painter) {
  const { data } = replay, find = (name) => element.querySelector(name), canvas = find(".live"), slider = find("input");
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = Math.round((width * data.height) / data.width);
  if (width > 0 && (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))) {
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    canvas.style.height = `${height}px`;
  }
  painter.paint(canvas.getContext("2d"), canvas.width, canvas.height);
  const place = `${replay.step + 1} / ${replay.steps}`, caption = `${replay.now.title}. ${replay.now.caption}`;
  slider.value = String(replay.step);
  slider.ariaValueText = place;
  find(".at").textContent = place;
  find(".speed").value = String(replay.speed);
  find(".threads").value = replay.watched ? `${replay.watched.first}-${replay.watched.last}` : "";
  if (element.dataset.playing !== String(replay.isPlaying)) find("[data-do=play]").replaceChildren(icon(replay.isPlaying ? "pause" : "play"));
  element.dataset.playing = String(replay.isPlaying);
  find(".caption").ariaLive = replay.isPlaying ? "off" : "polite"; // a screen reader can't follow what plays
  if (find(".caption").textContent !== caption) find(".caption").textContent = caption;
  const words = (replay.now.words || []).map((number) => data.parts[number]).join("\n");
  canvas.setAttribute("aria-label", words ? `${replay.now.title}. ${words}` : caption);
  element.dataset.step = String(replay.step + 1);
  element.dataset.theme = replay.theme;
  element.style.background = replay.colour(data.background);
  element.style.color = replay.colour(data.text);
}

/** Draws the picture that is printed instead of the canvas: light, and in the resolution of paper. */
function drawPaper(element, replay, painter) {
  const paper = element.querySelector(".paper"), theme = replay.theme;
  [paper.width, paper.height] = [PAPER_PX, Math.round((PAPER_PX * replay.data.height) / replay.data.width)];
  replay.theme = "light";
  painter.paint(paper.getContext("2d"), paper.width, paper.height);
  replay.theme = theme;
  element.classList.add("on-paper");
}

function leavePaper(element) {
  element.classList.remove("on-paper");
  [element.querySelector(".paper").width, element.querySelector(".paper").height] = [0, 0];
}

/** Adds a player with its buttons to an element. ``onDraw`` is called after each picture. Returns its replay and the functions
 * that control it.
 */
export function mount(element, data, onDraw = () => {}) {
  const replay = new Replay(data), painter = new Painter(replay);
  build(element, replay);
  const find = (name) => element.querySelector(name), canvas = find(".live"), slider = find("input");
  const draw = () => {
    show(element, replay, painter);
    onDraw(replay);
  };
  const actions = {
    first: () => replay.go(0),
    last: () => replay.go(replay.steps - 1),
    back: () => replay.go(replay.step - 1),
    on: () => replay.forward(isCalm()),
    play: () => (replay.isPlaying = !replay.isPlaying && replay.steps > 1),
    theme: () => (replay.theme = replay.theme === "light" ? "dark" : "light"),
    phaseOn: () => replay.phase(1, isCalm()),
    phaseBack: () => replay.phase(-1),
    faster: () => (replay.speed = SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(replay.speed) + 1)]),
    slower: () => (replay.speed = SPEEDS[Math.max(0, SPEEDS.indexOf(replay.speed) - 1)]),
  };
  const act = (name) => {
    if (!["play", "theme", "faster", "slower"].includes(name)) replay.isPlaying = false;
    actions[name]();
    draw();
    if (replay.isPlaying || replay.isMoving) run();
  };
  element.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey || !(event.key in KEYS)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return; // presses the button
    event.preventDefault();
    event.stopPropagation(); // slides around a figure have keys of their own
    act(KEYS[event.key]);
  });
  element.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", () => act(button.dataset.do)));
  slider.addEventListener("input", () => { replay.isPlaying = false; replay.go(Number(slider.value)); draw(); });
  find(".speed").addEventListener("change", (event) => { replay.speed = Number(event.target.value); });
  find(".threads").addEventListener("change", (event) => {
    const [first, last] = event.target.value.split("-").map(Number);
    replay.watched = event.target.value === "" ? null : { first, last };
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    const scale = canvas.clientWidth / data.width;
    find(".hover").textContent = event.pointerType === "touch" ? "" : replay.describe(event.offsetX / scale, event.offsetY / scale);
  });
  canvas.addEventListener("pointerleave", () => (find(".hover").textContent = ""));
  onSwipe(canvas, (isOn) => act(isOn ? "on" : "back"));
  window.addEventListener("beforeprint", () => element.isConnected && drawPaper(element, replay, painter));
  window.addEventListener("afterprint", () => leavePaper(element));

  let last = 0, running = null;
  const run = () => {
    last = performance.now();
    const tick = (time) => {
      if (!element.isConnected || tick !== running || !(replay.isPlaying || replay.isMoving)) return;
      const seconds = Math.max(0, Math.min(0.25, (time - last) / 1000));
      if (replay.isPlaying) replay.advance(seconds, isCalm());
      else replay.move(seconds);
      last = time;
      draw();
      requestAnimationFrame(tick);
    };
    running = tick;
    requestAnimationFrame(tick);
  };
  new ResizeObserver(draw).observe(canvas);
  Promise.allSettled(replay.fonts.map((font) => font.load())).then(draw);
  draw();
  return { replay, act, draw };
}

/** Calls a function with true for a swipe of a finger to the left, and false for one to the right. */
function onSwipe(canvas, onTurn) {
  let start = null;
  canvas.addEventListener("pointerdown", (event) => (start = event.pointerType === "mouse" ? null : event));
  canvas.addEventListener("pointerup", (event) => {
    if (start === null || start.pointerId !== event.pointerId) return;
    const [right, down] = [event.clientX - start.clientX, event.clientY - start.clientY];
    if (Math.abs(right) > Math.max(SWIPE_PX, Math.abs(down))) onTurn(right < 0);
    start = null;
  });
}

function fillThreads(select, data) {
  const facts = data.facts;
  if (!facts.threads) {
    select.hidden = true;
    return;
  }
  const options = [["", data.watched || said(data, "all threads")]], own = facts.own * facts.threads;
  const add = (first, last, name) => options.push([`${first}-${last}`, name]);
  facts.blocks.forEach((name, at) => facts.blocks.length > 1 && add(at * facts.threads, (at + 1) * facts.threads - 1, name));
  const warps = Math.ceil(facts.threads / facts.warp);
  for (let warp = 0; warp < warps && warps > 1; warp++) add(own + warp * facts.warp, own + Math.min(facts.threads, (warp + 1) * facts.warp) - 1, said(data, "warp {warp}", { warp }));
  for (let thread = 0; thread < facts.threads; thread++) add(own + thread, own + thread, said(data, "thread {thread}", { thread }));
  select.append(...options.map(([value, text]) => new Option(text, value)));
}

/** The entry point for notebooks, through anywidget. */
export default {
  async render({ model, el }) {
    const style = document.createElement("style");
    style.textContent = model.get("style");
    const inside = document.createElement("div");
    el.append(style, inside);
    inside.className = "fits";
    mount(inside, await unpacked(model.get("packed")));
  },
};
