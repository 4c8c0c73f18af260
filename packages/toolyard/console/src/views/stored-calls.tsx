import { useEffect, useState } from "preact/hooks";
import type { JsonValues } from "../../../src/features/console/api-types.ts";
import type { StoredCalls as StoredList } from "../../../src/features/console/task-types.ts";
import { session } from "../api.ts";
import { formatDate, formatMs, t } from "../i18n/texts.ts";
import { go } from "../route.ts";
import { Bounded, LateDetails } from "../ui/bounded.tsx";
import { Commands, Json, Name, Outcome, Pending, SearchField } from "../ui/parts.tsx";
import { replayed } from "../ui/replayed.ts";
import { useData } from "../ui/use-data.ts";

const TIMES = ["1h", "24h", "7d", ""] as const;
const WAIT_MS = 250;

/** Shows entries of the audit file. */
export function StoredCalls() {
  const [tool, setTool] = useState("");
  const [caller, setCaller] = useState("");
  const [outcome, setOutcome] = useState("");
  const [since, setSince] = useState<string>("24h");
  const wanted = { tool: pattern(tool), principal: pattern(caller), outcome, since };
  const search = useSettled(new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== "")).toString());
  const { data, error, reload } = useData<StoredList>(`calls/stored?${search}`);
  return (
    <>
      <div class="filters">
        <SearchField label={t("tool")} words={tool} onWords={setTool} />
        {session.value?.seesAll && <SearchField label={t("caller")} words={caller} onWords={setCaller} />}
        <label>
          <span class="hidden">{t("outcome")}</span>
          <select value={outcome} onChange={(event) => setOutcome(event.currentTarget.value)}>
            <option value="">{t("allOutcomes")}</option>
            <option value="failed">{t("onlyFailed")}</option>
          </select>
        </label>
        <label>
          {t("since")}{" "}
          <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
            {TIMES.map((time) => (
              <option key={time} value={time}>
                {time === "" ? t("always") : time}
              </option>
            ))}
          </select>
        </label>
      </div>
      {data ? <Entries list={data} /> : <Pending error={error} retry={reload} />}
      <Commands lines={["toolyard audit search --since 24h", "toolyard audit verify"]} />
    </>
  );
}

/** Returns the pattern for search words. Words without `*` and `?` are found anywhere in a text. */
function pattern(words: string): string {
  const text = words.trim();
  return text === "" || /[*?]/.test(text) ? text : `*${text}*`;
}

/** Returns a value when it has not changed for a moment, so that each key does not search the audit. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), WAIT_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Entries({ list: { hasAudit, entries, isPart } }: { readonly list: StoredList }) {
  if (!hasAudit) return <p>{t("noAudit")}</p>;
  if (entries.length === 0) return <p role="status">{t("noCalls")}</p>;
  return (
    <>
      {isPart && <p class="dim">{t("auditPart")}</p>}
      <Bounded>
        {entries.map((entry, at) => (
          <Entry key={`${String(entry["time"])} ${String(entry["call"])} ${at}`} entry={entry} />
        ))}
      </Bounded>
    </>
  );
}

function Entry({ entry }: { readonly entry: JsonValues }) {
  const { time, event = "call", target, action, principal, client, kind, durationMs, method } = entry;
  const what = event === "call" ? target : `${String(event)} ${String(action)}`;
  const isTool = method === "tools/call" && typeof target === "string";
  const summary = (
    <>
      <span class="dim">{typeof time === "string" ? formatDate(time) : ""}</span> <Name text={String(what)} />{" "}
      <Name class="dim" text={String(client ?? principal ?? "")} /> <Outcome outcome={String(kind)} />{" "}
      {typeof durationMs === "number" && formatMs(durationMs)}
    </>
  );
  const replay = (): void => {
    replayed.value = { tool: String(target), args: entry["arguments"] };
    go("tools", String(target));
  };
  const content = () => (
    <>
      <Json value={entry} />
      {isTool && (
        <p>
          <button onClick={replay}>{t("replay")}</button>
        </p>
      )}
    </>
  );
  return <LateDetails class="stored" summary={summary} content={content} />;
}
