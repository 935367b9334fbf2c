/** Light, dark, or as the system has it. The only thing the console keeps beyond a tab. */

export type Theme = "system" | "light" | "dark";
const KEY = "cloister.theme";

/* eslint-disable no-restricted-globals */
export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(chosen: Theme): void {
  if (chosen === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, chosen);
  showTheme();
}
/* eslint-enable no-restricted-globals */

export function showTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}
