import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SourceSummary, ToolList } from "../../../src/features/console/api-types.ts";
import { get, session } from "../api.ts";
import { t, type TextKey } from "../i18n/texts.ts";
import { go } from "../route.ts";
import { Name } from "./parts.tsx";

interface Entry {
  readonly label: string;
  readonly hint: string;
  readonly run: () => void;
}

const MAX_ENTRIES = 30;

/** Goes to a view, a tool or a source by its name. */
export function Palette({ views, onClose }: { readonly views: readonly TextKey[]; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState(0);
  const [found, setFound] = useState<readonly Entry[]>([]);
  // Opens the dialog before the browser handles the next key, because a user may have pressed one already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const aborter = new AbortController();
    const timer = setTimeout(() => void search(words, aborter.signal).then(setFound, () => {}), 100);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [words]);
  const own = views
    .filter((name) => t(name).toLowerCase().includes(words.toLowerCase()))
    .map((name): Entry => ({ label: t(name), hint: "", run: () => go(name) }));
  const entries = [...own, ...(words === "" ? [] : found)].slice(0, MAX_ENTRIES);
  const take = (entry: Entry | undefined): void => {
    entry?.run();
    onClose();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") take(entries[chosen]);
  };
  return (
    <dialog class="palette" ref={dialog} onClose={onClose} aria-label={t("palette")}>
      <input
        value={words}
        placeholder={t("paletteHint")}
        aria-label={t("paletteHint")}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        {...(entries[chosen] && { "aria-activedescendant": `palette-${chosen}` })}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="palette-list" role="listbox" aria-label={t("palette")}>
        {entries.map((entry, index) => (
          <li
            key={`${entry.hint} ${entry.label}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => take(entry)}
          >
            <Name text={entry.label} /> <span class="dim">{entry.hint}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

async function search(words: string, signal: AbortSignal): Promise<readonly Entry[]> {
  if (words.trim() === "") return [];
  const [{ tools }, { sources }] = await Promise.all([
    get<ToolList>(`tools?query=${encodeURIComponent(words)}`, signal),
    session.value?.seesAll
      ? get<{ readonly sources: readonly SourceSummary[] }>("sources", signal)
      : { sources: [] as readonly SourceSummary[] },
  ]);
  const fitting = sources.filter(({ id }) => id.toLowerCase().includes(words.toLowerCase()));
  return [
    ...fitting.map(({ id }): Entry => ({ label: id, hint: t("source"), run: () => go("sources", id) })),
    ...tools.map(({ name }): Entry => ({ label: name, hint: t("tool"), run: () => go("tools", name) })),
  ];
}
