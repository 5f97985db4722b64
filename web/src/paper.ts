/** On paper nothing can be opened: what is folded away on the screen is printed open. */

export function openForPaper(): void {
  let opened: HTMLDetailsElement[] = [];
  window.matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) {
      opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    }
    for (const part of opened) part.open = matches;
    if (!matches) opened = [];
  });
}
