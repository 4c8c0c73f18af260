import { useEffect, useRef, useState } from "preact/hooks";
import type { LogList } from "../../../src/features/console/api-types.ts";
import { formatTime, t } from "../i18n/texts.ts";
import { liveLines, skipped } from "../live.ts";
import { Commands, Foreign, Pending, SearchField } from "../ui/parts.tsx";
import { useData } from "../ui/use-data.ts";
import { VirtualList } from "../ui/virtual-list.tsx";

const LEVELS = ["debug", "info", "warning", "error"] as const;
const ROW_HEIGHT = 26;

export function Logs() {
  const [level, setLevel] = useState<(typeof LEVELS)[number]>("debug");
  const [words, setWords] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const { data, error, reload } = useData<LogList>("logs");
  const place = useRef<HTMLDivElement>(null);
  const count = liveLines.value.length + (data?.lines.length ?? 0);
  useEffect(() => {
    const box = place.current?.querySelector(".virtual");
    if (isFollowing && box) box.scrollTop = box.scrollHeight;
  }, [count, isFollowing, level, words]);
  if (!data) return <Pending error={error} retry={reload} />;
  const known = new Map([...data.lines, ...liveLines.value].map((line) => [line.number, line]));
  const least = LEVELS.indexOf(level);
  const lines = [...known.values()].filter(
    (line) => LEVELS.indexOf(line.level) >= least && line.text.toLowerCase().includes(words.toLowerCase()),
  );
  return (
    <>
      <div class="filters">
        <label>
          {t("level")}{" "}
          <select value={level} onChange={(event) => setLevel(event.currentTarget.value as typeof level)}>
            {LEVELS.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <SearchField label={t("filter")} words={words} onWords={setWords} />
        <label>
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => setFollowing(event.currentTarget.checked)}
          />{" "}
          {t("follow")}
        </label>
      </div>
      {skipped.value > 0 && <p class="dim">{t("skipped", { count: skipped.value })}</p>}
      {lines.length === 0 && <p>{t("noLines")}</p>}
      <div ref={place} class="log" dir="ltr">
        <VirtualList
          count={lines.length}
          rowHeight={ROW_HEIGHT}
          label={t("logs")}
          row={(index) => {
            const line = lines[index]!;
            return (
              <span class={`line ${line.level}`} title={line.text.slice(0, 2000)}>
                <span class="dim">{formatTime(line.time)}</span> <b>{line.level}</b>{" "}
                <Foreign text={line.text.replace(/^\S+\s+\w+\s+/, "")} />
              </span>
            );
          }}
        />
      </div>
      <Commands lines={[`toolyard log --follow${level === "debug" ? "" : ` --level ${level}`}`]} />
    </>
  );
}
