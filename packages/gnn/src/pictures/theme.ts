import type { RoleName } from "./roles.ts";

export type ThemeName = "light" | "dark";

export interface Theme {
  readonly background: string;
  readonly text: string;
  /** Colour of secondary text: dimensions, legends. */
  readonly quiet: string;
  readonly line: string;
  readonly group: string;
  readonly fill: Readonly<Record<RoleName, string>>;
  readonly stroke: Readonly<Record<RoleName, string>>;
  /** Colours from the smallest to the greatest number. Negative numbers use a separate colour, starting at zero. */
  readonly scale: { readonly zero: Rgb; readonly high: Rgb; readonly low: Rgb };
}

export type Rgb = readonly [number, number, number];

const HUES: Readonly<Record<RoleName, number>> = {
  observation: 45,
  likelihood: 25,
  state: 210,
  transition: 265,
  prior: 150,
  preference: 340,
  policy: 95,
  energy: 0,
  precision: 180,
  noise: 300,
  time: 230,
  other: 0,
};

function tones(lightness: number, saturation: number): Readonly<Record<RoleName, string>> {
  const entries = Object.entries(HUES).map(([role, hue]) => [
    role,
    hex(hue, role === "other" ? 0.03 : saturation, lightness),
  ]);
  return Object.fromEntries(entries) as Record<RoleName, string>;
}

/** Returns a colour as `#rrggbb`, because not every SVG reader supports `hsl(…)`. */
function hex(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number): string => {
    const at = (offset + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    background: "#ffffff",
    text: "#1b1f24",
    quiet: "#57606a",
    line: "#57606a",
    group: "#f3f5f7",
    fill: tones(0.91, 0.85),
    stroke: tones(0.38, 0.6),
    scale: { zero: [247, 249, 251], high: [8, 81, 156], low: [165, 42, 42] },
  },
  dark: {
    background: "#14171c",
    text: "#eceff3",
    quiet: "#a4adb8",
    line: "#9aa4b0",
    group: "#1d2229",
    fill: tones(0.22, 0.55),
    stroke: tones(0.66, 0.6),
    scale: { zero: [32, 37, 44], high: [120, 190, 255], low: [255, 140, 120] },
  },
};
