/** A table that sorts by its headings, filters by what is typed, and starts short. */

import type { Table, TableColumn } from "./data";
import { button, element, missingBox, nameText } from "./dom";
import { count, inColumn } from "./format";

type Row = (string | number | null)[];

const FIRST_ROWS = 50;

export function tablePanel(table: Table): HTMLElement {
  const panel = element(
    "div",
    { class: "table-panel", id: `table-${table.key}` },
    element("h3", {}, table.title),
  );
  if (table.note !== "") panel.append(element("p", { class: "caption" }, table.note));
  if (table.rows.length === 0) {
    panel.append(missingBox(table.missing ?? "There are no rows."));
    return panel;
  }
  panel.append(...new TableView(table).parts());
  return panel;
}

class TableView {
  private sorted_by: { column: number; descending: boolean } | null = null;
  private wanted = "";
  private all = false;
  private readonly body = element("tbody");
  private readonly status = element("span", { class: "status", role: "status" });
  private readonly headings: HTMLElement[];
  private readonly more: HTMLButtonElement;
  private readonly most: number[];

  constructor(private readonly table: Table) {
    this.headings = table.columns.map((column, at) => this.heading(column, at));
    this.more = button("Show all", () => {
      this.all = true;
      this.update();
    });
    this.most = table.columns.map((_, at) =>
      table.rows.reduce((most, row) => Math.max(most, typeof row[at] === "number" ? row[at] : 0), 0),
    );
    this.update();
  }

  parts(): Node[] {
    const filter = element("input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": `Filter ${this.table.title}`,
      autocomplete: "off",
      spellcheck: "false",
    });
    filter.addEventListener("input", () => {
      this.wanted = filter.value.trim().toLowerCase();
      this.update();
    });
    const tools = element("div", { class: "table-tools" }, filter, this.status, this.more);
    if (this.table.rows.length < 2) filter.hidden = true;
    const grid = element("table", {}, element("thead", {}, element("tr", {}, ...this.headings)), this.body);
    return [
      tools,
      element(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": this.table.title },
        grid,
      ),
    ];
  }

  private heading(column: TableColumn, at: number): HTMLElement {
    const sort = element("button", { type: "button" }, column.label);
    if (column.note !== "") sort.title = column.note;
    sort.addEventListener("click", () => {
      const again = this.sorted_by?.column === at;
      // Numbers are wanted largest first, names from A on.
      const descending = again ? !this.sorted_by?.descending : column.kind !== "text";
      this.sorted_by = { column: at, descending };
      this.update();
    });
    return element("th", { scope: "col", "aria-sort": "none", class: cellClass(column) }, sort);
  }

  private update(): void {
    const found = this.found();
    const shown = this.all ? found : found.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    this.headings.forEach((heading, at) => {
      const direction = this.sorted_by?.descending ? "descending" : "ascending";
      heading.setAttribute("aria-sort", this.sorted_by?.column === at ? direction : "none");
    });
    this.more.hidden = shown.length === found.length;
    this.more.textContent = `Show all ${count(found.length)}`;
    this.status.textContent = this.describe(shown.length, found.length);
  }

  private describe(shown: number, found: number): string {
    const { rows, total_rows } = this.table;
    const of = this.wanted === "" ? "" : ` matching, of ${count(rows.length)}`;
    const parts = [
      shown === found ? `showing ${count(found)}${of}` : `showing ${count(shown)} of ${count(found)}${of}`,
    ];
    if (total_rows > rows.length)
      parts.push(`the heaviest ${count(rows.length)} of ${count(total_rows)} in the measurement`);
    return parts.join("; ");
  }

  private found(): Row[] {
    const { rows, columns } = this.table;
    const matches = (row: Row) =>
      columns.some((column, at) =>
        inColumn(row[at] ?? null, column.kind)
          .toLowerCase()
          .includes(this.wanted),
      );
    const found = this.wanted === "" ? [...rows] : rows.filter(matches);
    if (this.sorted_by) {
      const { column, descending } = this.sorted_by;
      found.sort((a, b) => compare(a[column] ?? null, b[column] ?? null, descending));
    }
    return found;
  }

  private row(row: Row): HTMLElement {
    const cells = this.table.columns.map((column, at) => {
      const value = row[at] ?? null;
      const text = inColumn(value, column.kind);
      if (value === null) return element("td", { class: `${cellClass(column)} quiet` }, text);
      if (column.kind === "text") return element("td", {}, nameText(text));
      const cell = element("td", { class: cellClass(column) }, text);
      if (column.kind === "share" && typeof value === "number") {
        const length = element("i", { class: "share-bar" });
        length.style.width = `${Math.min(1, Math.max(0, value / Math.max(this.most[at] ?? 1, 1e-9))) * 100}%`;
        cell.append(element("span", { class: "share-track" }, length));
      }
      return cell;
    });
    return element("tr", {}, ...cells);
  }
}

const cellClass = (column: TableColumn): string =>
  column.kind === "text" ? "text" : `number ${column.kind}`;

const byName = new Intl.Collator("en", { numeric: true });

/** What is missing comes last, whichever way. */
function compare(a: Row[number], b: Row[number], descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === "number" && typeof b === "number" ? a - b : byName.compare(String(a), String(b));
  return descending ? -order : order;
}
