/**
 * The datasets of a run, each with one colour on the whole page. A click in any
 * legend hides or shows a dataset in every chart.
 */

import type { PageData, Panel } from "./data";
import { element, nameText } from "./dom";
import { colour, seriesVariable } from "./theme";

export class Datasets {
  readonly names: string[];
  private readonly index: Map<string, number>;
  private readonly hidden = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  constructor(names: Iterable<string>) {
    this.names = [...new Set(names)];
    this.index = new Map(this.names.map((name, at) => [name, at]));
  }

  static of(page: PageData): Datasets {
    const data = <T>(panel: Panel<T>): T | null => ("data" in panel ? panel.data : null);
    const lanes = data(page.lanes);
    return new Datasets([
      ...(data(page.runtimes)?.datasets.map((one) => one.name) ?? []),
      ...(data(page.scatter)?.datasets ?? []),
      ...(lanes?.kind === "intervals" ? lanes.datasets : []),
    ]);
  }

  colour(name: string): string {
    return colour(seriesVariable(this.index.get(name) ?? 0));
  }

  isShown(name: string): boolean {
    return !this.hidden.has(name);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private toggle(name: string): void {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    for (const listener of this.listeners) listener();
  }

  legend(names: readonly string[], ...more: Node[]): HTMLElement {
    const buttons = [...new Set(names)].map((name) => {
      const swatch = element("i", { class: "swatch" });
      swatch.style.color = `var(--${seriesVariable(this.index.get(name) ?? 0)})`;
      const toggle = element("button", { type: "button", class: "key" }, swatch, nameText(name));
      const update = () => toggle.setAttribute("aria-pressed", String(this.isShown(name)));
      toggle.addEventListener("click", () => this.toggle(name));
      this.onChange(update);
      update();
      return toggle;
    });
    return element("div", { class: "legend", role: "group", "aria-label": "Datasets" }, ...buttons, ...more);
  }
}
