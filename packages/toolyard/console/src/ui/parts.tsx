import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { firstChars } from "../../../src/core/text/truncate.ts";
import type { ApiError } from "../api.ts";
import { t } from "../i18n/texts.ts";
import type { SourceState } from "../../../src/features/console/api-types.ts";

/** Shows text from a server, isolated from the text direction of the page. */
export function Foreign({ text }: { readonly text: string }) {
  return <bdi>{shortened(text, MAX_SHOWN)}</bdi>;
}
const MAX_SHOWN = 20_000;

/** Shows a name from a server, of which there may be many in a list. */
export function Name({ text, class: className }: { readonly text: string; readonly class?: string }) {
  return <bdi {...(className !== undefined && { class: className })}>{shortened(text, MAX_NAME)}</bdi>;
}
const MAX_NAME = 300;

/** Shows the description of a field from a server. */
export function Hint({ text }: { readonly text: string }) {
  return (
    <small class="dim hint">
      <bdi>{shortened(text, MAX_HINT)}</bdi>
    </small>
  );
}
const MAX_HINT = 2000;

function shortened(text: string, max: number): string {
  return text.length > max ? `${firstChars(text, max)}…` : text;
}

export function State({ state }: { readonly state: SourceState }) {
  return <span class={`state ${state}`}>{t(`state_${state}`)}</span>;
}

export function Outcome({ outcome }: { readonly outcome: string }) {
  return (
    <span class={`state ${outcome === "ok" ? "ready" : outcome === "cancelled" ? "disabled" : "down"}`}>{outcome}</span>
  );
}

/** Shows that data is loading, or why the data cannot be shown. */
export function Pending({
  error,
  retry,
}: {
  readonly error: ApiError | undefined;
  readonly retry: () => Promise<void>;
}) {
  if (!error)
    return (
      <p class="dim" role="status">
        {t("loading")}
      </p>
    );
  if (error.status === 403)
    return (
      <p class="notice" role="alert">
        {t("noRights")}
      </p>
    );
  return (
    <p class="notice" role="alert">
      {t("failed", { reason: error.message })} <button onClick={() => void retry()}>{t("retry")}</button>
    </p>
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).catch(() => {});
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t("copied") : (label ?? t("copy"))}</span>
    </button>
  );
}

/** Shows the equivalent commands of the command-line program. */
export function Commands({ lines }: { readonly lines: readonly string[] }) {
  return (
    <section class="cli" aria-label={t("cli")}>
      <h2>{t("cli")}</h2>
      {lines.map((line) => (
        <p key={line}>
          <code>{line}</code> <CopyButton text={line} />
        </p>
      ))}
    </section>
  );
}

export function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Json({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? "";
  return (
    <pre tabindex={0} dir="ltr">
      <Foreign text={text} />
    </pre>
  );
}

export interface SearchFieldProps {
  readonly label: string;
  readonly words: string;
  readonly onWords: (words: string) => void;
  readonly class?: string;
}

/** Shows a field for search words. Its label is only visible as its placeholder. */
export function SearchField({ label, words, onWords, class: className }: SearchFieldProps) {
  return (
    <label class={className}>
      <span class="hidden">{label}</span>
      <input type="search" placeholder={label} value={words} onInput={(event) => onWords(event.currentTarget.value)} />
    </label>
  );
}
