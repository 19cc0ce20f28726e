// Turns the figures of a document into players. Each keeps its still, which is shown where no script runs.

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
const EVENT = "gemmviz:step";

/** Whether the text around an element is light, as on a dark page. */
function isOnDark(element) {
  const context = create("canvas", { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = getComputedStyle(element).color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}

const themeOf = (figure) => (["dark", "light"].includes(figure.dataset.theme) ? figure.dataset.theme : isOnDark(figure) ? "dark" : "light");

/** Calls a function whenever the colours of the document may have changed. */
function onColours(update) {
  const observer = new MutationObserver(update);
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  document.addEventListener("transitionend", update);
}

/** Reads the moment of a figure from the fragment of a URL: "#gemmviz=NAME:step=5,lane=3,theme=light". Null if it names none. */
function momentFrom(hash, name) {
  let text = hash.slice(1);
  try {
    text = decodeURIComponent(text);
  } catch {
    return null;
  }
  const [, values] = text.split("&").map((part) => /^gemmviz=([\w.-]+):([\w=,]*)$/.exec(part)?.slice(1) ?? []).find(([own]) => own === name) ?? [];
  return values === undefined ? null : Object.fromEntries(values.split(",").map((each) => each.split("=")));
}

const whole = (text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : null);

/** The threads that a moment names, as {first, last}; null for all. */
function threadsOf({ block, warp, lane }, facts) {
  const numbers = [block, warp, lane].map(whole), own = facts.own * facts.threads;
  if (!facts.threads || numbers.every((each) => each === null)) return null;
  if (numbers[1] === null && numbers[2] === null) {
    return numbers[0] < facts.blocks.length ? { first: numbers[0] * facts.threads, last: (numbers[0] + 1) * facts.threads - 1 } : null;
  }
  const start = (numbers[1] ?? 0) * facts.warp, end = Math.min(facts.threads, start + facts.warp);
  const first = numbers[2] === null ? start : start + numbers[2];
  return first < end ? { first: own + first, last: own + (numbers[2] === null ? end - 1 : first) } : null;
}

/** The fragment of the URL of a moment. */
function fragmentOf(name, replay) {
  const parts = [`step=${replay.step + 1}`], { facts } = replay.data;
  if (replay.watched) {
    const thread = replay.watched.first - facts.own * facts.threads, count = replay.watched.last - replay.watched.first + 1;
    const isOwn = thread >= 0 && thread < facts.threads, warp = Math.floor(thread / facts.warp);
    if (!isOwn || count > facts.warp) parts.push(`block=${Math.floor(replay.watched.first / facts.threads)}`);
    else parts.push(`warp=${warp}`, ...(count === 1 ? [`lane=${thread % facts.warp}`] : []));
  }
  return `#gemmviz=${name}:${[...parts, `theme=${replay.theme}`].join(",")}`;
}

/** A figure of the document with its player. Figures share nothing but the events by which one follows another. */
class Figure {
  constructor(figure, data) {
    this.figure = figure;
    const root = figure.querySelector("[data-part=stage]").attachShadow({ mode: "open" }), element = create("div");
    root.adoptedStyleSheets = [sheet];
    root.append(element);
    figure.style.marginInline = "0";
    figure.querySelector("figcaption").style.font = "0.8125rem/1.4 system-ui, sans-serif"; // slides have large letters
    figure.querySelector("[data-part=words]").hidden = true; // the player has a caption
    this.theme = themeOf(figure);
    [this.told, this.origin] = ["", figure];
    this.player = mount(element, { ...data, theme: this.theme }, () => this.onDraw());
    this.addButtons(element);
    this.listen();
    this.open(location.hash);
    this.onDraw();
  }

  get replay() {
    return this.player.replay;
  }

  addButtons(element) {
    const { data } = this.replay;
    const [copy, enlarge] = [button("link", said(data, "Copy a link to this moment")), button("enlarge", said(data, "Full screen"))];
    copy.addEventListener("click", () => this.copy(element.querySelector(".hover")));
    enlarge.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen()));
    element.querySelector(".bar").append(copy, ...(document.fullscreenEnabled ? [enlarge] : []));
  }

  listen() {
    onColours(() => this.wear());
    window.addEventListener("hashchange", () => this.open(location.hash));
    document.addEventListener(EVENT, ({ detail }) => this.follow(detail));
  }

  /** Takes the theme of the page, unless the figure has its own. */
  wear() {
    const theme = themeOf(this.figure);
    if (theme === this.theme) return;
    [this.theme, this.replay.theme] = [theme, theme];
    this.player.draw();
  }

  /** Goes to the moment that a URL names. */
  open(hash) {
    const moment = momentFrom(hash, this.figure.dataset.name);
    if (moment === null) return;
    this.replay.isPlaying = false;
    this.replay.go((whole(moment.step) ?? 1) - 1);
    this.replay.watched = threadsOf(moment, this.replay.data.facts);
    if (["dark", "light"].includes(moment.theme)) [this.figure.dataset.theme, this.theme, this.replay.theme] = Array(3).fill(moment.theme);
    this.player.draw();
    this.figure.scrollIntoView({ block: "nearest" });
  }

  /** Copies the URL of this moment, or shows it where the browser doesn't allow that. */
  async copy(status) {
    const page = /^(https?|file):$/.test(location.protocol) ? location.href.split("#")[0] : "";
    const url = page + fragmentOf(this.figure.dataset.name, this.replay);
    try {
      await navigator.clipboard.writeText(url);
      status.textContent = said(this.replay.data, "Link copied");
    } catch {
      status.textContent = url;
    }
  }

  follow({ name, step, moment = 1, origin }) {
    if (!name || name !== this.figure.dataset.follow || origin === this.figure || !this.figure.isConnected) return;
    this.replay.isPlaying = false;
    this.origin = origin; // figures that follow each other stop here
    this.replay.go(step - 1, moment);
    this.player.draw();
    this.origin = this.figure;
  }

  /** Reports a new step, and keeps a theme that was chosen with the button. */
  onDraw() {
    if (!this.player) return; // the first picture
    const { replay, figure } = this, state = `${replay.step} ${replay.moment}`;
    if (replay.theme !== this.theme) this.theme = figure.dataset.theme = replay.theme;
    if (state === this.told) return;
    this.told = state;
    const detail = { name: figure.dataset.name, step: replay.step + 1, moment: replay.moment, origin: this.origin };
    document.dispatchEvent(new CustomEvent(EVENT, { detail }));
  }
}

for (const figure of document.querySelectorAll(`figure[data-gemmviz="${VERSION}"]:not([data-ready])`)) {
  figure.dataset.ready = "";
  unpacked(figure.querySelector("[data-part=data]").textContent.trim()).then((data) => new Figure(figure, data), () => delete figure.dataset.ready);
}
