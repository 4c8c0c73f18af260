import { signal } from "@preact/signals";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORED = "toolyard-console-theme";

export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(STORED)) ?? "auto");

export function applyTheme(wanted: Theme = theme.value): void {
  theme.value = wanted;
  localStorage.setItem(STORED, wanted);
  document.documentElement.dataset["theme"] = wanted;
}
