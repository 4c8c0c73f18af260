/** Content type of the text format (Prometheus exposition format 0.0.4). */
export const METRICS_CONTENT = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

/** Writes metrics in the text format of Prometheus. */
export class MetricsText {
  #text = "";

  /** Starts a metric. Its samples must follow. */
  family(name: string, type: "counter" | "gauge" | "histogram", help: string): this {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    return this;
  }

  sample(name: string, value: number, labels: Labels = {}): this {
    const text = labelText(labels);
    return this.line(text === "" ? name : `${name}{${text}}`, value);
  }

  /** Adds a sample of a series with a formatted name and labels. */
  line(series: string, value: number): this {
    this.#text += `${series} ${Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "NaN"}\n`;
    return this;
  }

  /** Adds complete lines, each with its line break. */
  raw(lines: string): this {
    this.#text += lines;
    return this;
  }

  toString(): string {
    return this.#text;
  }
}

/** Formats labels, without the braces. */
export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

const SPECIAL = /[\\"\n]/g;

function escapeLabel(value: string): string {
  return value.replaceAll(SPECIAL, (character) => (character === "\n" ? String.raw`\n` : `\\${character}`));
}
