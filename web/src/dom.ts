/**
 * Making elements. Text only ever becomes text nodes and attribute values here, so
 * that no name in a measurement can turn into markup.
 */

type Child = Node | string | null;
type Attributes = Record<string, string | null>;

/** Longest hint that appears when the mouse rests on a name. */
const TITLE_LENGTH = 300;
/** Longest end of a path that is always shown. */
const LONGEST_TAIL = 40;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(name, value);
  }
  for (const child of children) {
    if (child !== null) made.append(child);
  }
  return made;
}

/** A name somebody chose: cut by the style sheet where it is too long, in its own direction. */
export function nameText(text: string, className = "name"): HTMLElement {
  if (text === "") return element("span", { class: `${className} quiet` }, "(empty)");
  const attributes = { dir: "auto", title: shorten(text, TITLE_LENGTH) };
  const tail = text.length - text.lastIndexOf("/");
  if (tail > text.length || tail < 2 || tail > LONGEST_TAIL) {
    return element("span", { class: className, ...attributes }, text);
  }
  // What tells files apart is at the end of a path, so it is cut before that.
  return element(
    "span",
    { class: `${className} path`, ...attributes },
    element("span", {}, text.slice(0, -tail)),
    element("span", {}, text.slice(-tail)),
  );
}

/** A sentence in which what stands between backticks is code. */
export function prose(text: string): Child[] {
  return text.split("`").map((part, at, parts) => {
    const closed = at < parts.length - 1;
    if (at % 2 === 0) return part;
    return closed ? element("code", {}, part) : `\`${part}`;
  });
}

/** The start of a text, by whole characters. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = Array.from(text.slice(0, length + 1)).slice(0, length - 1);
  return `${kept.join("")}…`;
}

/** The end of a text: what tells files and addresses apart. */
export function shortenStart(text: string, length: number): string {
  if (text.length <= length) return text;
  return `…${Array.from(text.slice(-(length - 1))).join("")}`;
}

/** A quiet box that says why something is not there. */
export function missingBox(sentence: string): HTMLElement {
  return element("p", { class: "missing" }, sentence);
}

/** A part of the page with its heading and the anchor that the navigation points at. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    ...children,
  );
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", onClick);
  return made;
}
