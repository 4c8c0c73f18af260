import { toChildArray, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n/texts.ts";

/** Number of entries that a list shows first, and adds with each click. */
const STEP = 200;

export interface BoundedEntries {
  readonly shown: ComponentChildren;
  /** Button that shows further entries, or `null` if all are shown. */
  readonly more: ComponentChildren;
}

/** Returns the first entries of a list, because a page with 10,000 entries would block the browser. */
export function useBounded(children: ComponentChildren): BoundedEntries {
  const [limit, setLimit] = useState(STEP);
  const all = toChildArray(children);
  if (all.length <= limit) return { shown: all, more: null };
  const more = (
    <p>
      <button type="button" class="small" onClick={() => setLimit(limit + STEP)}>
        {t("showMore", { shown: limit, count: all.length })}
      </button>
    </p>
  );
  return { shown: all.slice(0, limit), more };
}

/** A list of which the first entries are shown, with a button for further ones. */
export function Bounded({ children }: { readonly children: ComponentChildren }) {
  const { shown, more } = useBounded(children);
  return (
    <>
      {shown}
      {more}
    </>
  );
}

export interface LateDetailsProps {
  readonly summary: ComponentChildren;
  readonly class?: string;
  /** Returns the content. Called when the user has opened it. */
  readonly content: () => ComponentChildren;
}

/** Details whose content is rendered when they are open, because there may be many large ones. */
export function LateDetails({ summary, class: className, content }: LateDetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class={className} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && content()}
    </details>
  );
}
