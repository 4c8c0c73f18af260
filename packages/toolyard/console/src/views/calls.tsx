import { useState } from "preact/hooks";
import { STAGES, type CallList, type CallRecord } from "../../../src/features/console/api-types.ts";
import { formatBytes, formatDate, formatMs, formatNumber, formatTime, t } from "../i18n/texts.ts";
import { liveCalls, skipped } from "../live.ts";
import { href, route } from "../route.ts";
import { lateView } from "../ui/late-view.tsx";
import { Commands, Name, Outcome, Pending, SearchField } from "../ui/parts.tsx";
import { useData } from "../ui/use-data.ts";

const MAX_ROWS = 500;

const StoredCalls = lateView(async () => (await import("./stored-calls.tsx")).StoredCalls);

export function Calls() {
  const isStored = route.value[1] === "stored";
  return (
    <>
      <p class="actions" role="group" aria-label={t("calls")}>
        <a class="button" href={href("calls")} {...(!isStored && CURRENT)}>
          {t("live")}
        </a>
        <a class="button" href={href("calls", "stored")} {...(isStored && CURRENT)}>
          {t("stored")}
        </a>
      </p>
      {isStored ? <StoredCalls /> : <LiveCalls />}
    </>
  );
}

const CURRENT = { "aria-current": "true" as const };

function LiveCalls() {
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState("");
  const [opened, setOpened] = useState<number>();
  const { data, error, reload } = useData<CallList>("calls?limit=500");
  if (!data) return <Pending error={error} retry={reload} />;
  const known = new Map([...data.calls, ...liveCalls.value].map((call) => [call.number, call]));
  const calls = [...known.values()]
    .filter((call) => matches(call, words, outcome))
    .toSorted((one, other) => other.number - one.number)
    .slice(0, MAX_ROWS);
  return (
    <>
      <div class="filters">
        <SearchField label={t("filter")} words={words} onWords={setWords} />
        <label>
          <span class="hidden">{t("outcome")}</span>
          <select value={outcome} onChange={(event) => setOutcome(event.currentTarget.value)}>
            <option value="">{t("allOutcomes")}</option>
            <option value="failed">{t("onlyFailed")}</option>
          </select>
        </label>
      </div>
      {skipped.value > 0 && <p class="dim">{t("skipped", { count: skipped.value })}</p>}
      {calls.length === 0 ? (
        <p>{t("noCalls")}</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                {(["time", "tool", "caller", "endpoint", "outcome", "durationColumn", "stages"] as const).map(
                  (name) => (
                    <th key={name} scope="col">
                      {t(name)}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {calls.map((call) => (
                <Row
                  key={call.number}
                  call={call}
                  isOpen={call.number === opened}
                  onToggle={() => setOpened(call.number === opened ? undefined : call.number)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Commands lines={["toolyard log --follow"]} />
    </>
  );
}

function matches(
  { target, who, client = "", source = "", outcome }: CallRecord,
  words: string,
  wanted: string,
): boolean {
  if (wanted === "failed" && (outcome === "ok" || outcome === "cancelled")) return false;
  return `${target} ${who} ${client} ${source} ${outcome}`.toLowerCase().includes(words.trim().toLowerCase());
}

interface RowProps {
  readonly call: CallRecord;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Row({ call, isOpen, onToggle }: RowProps) {
  return (
    <>
      <tr>
        <td>
          <button class="plain-button" aria-expanded={isOpen} onClick={onToggle}>
            {formatTime(call.time)}
          </button>
        </td>
        <th scope="row">
          <Name text={call.target} />
        </th>
        <td>
          <Name text={call.client ?? call.who} />
        </td>
        <td>{call.endpoint}</td>
        <td>
          <Outcome outcome={call.outcome} />
        </td>
        <td class="number">{formatMs(call.durationMs)}</td>
        <td>
          <StageBar stages={call.stages} />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colspan={7}>
            <dl>
              <dt>{t("time")}</dt>
              <dd>{formatDate(call.time)}</dd>
              <dt>{t("caller")}</dt>
              <dd>
                <Name text={call.who} />
              </dd>
              <dt>{t("source")}</dt>
              <dd>
                <Name text={call.source ?? "–"} />
              </dd>
              <dt>{t("attempts")}</dt>
              <dd>{formatNumber(call.attempts)}</dd>
              <dt>{t("size")}</dt>
              <dd>{formatBytes(Math.max(0, call.resultBytes))}</dd>
              {call.stages.map((time, at) => (
                <>
                  <dt>{STAGES[at]}</dt>
                  <dd>{formatMs(time)}</dd>
                </>
              ))}
            </dl>
            {call.method === "tools/call" && <a href={href("tools", call.target)}>{t("replay")}</a>}
          </td>
        </tr>
      )}
    </>
  );
}

const BAR_WIDTH = 120;

function StageBar({ stages }: { readonly stages: readonly number[] }) {
  const total = Math.max(
    0.01,
    stages.reduce((sum, one) => sum + one, 0),
  );
  const text = stages.map((time, at) => `${STAGES[at] ?? ""} ${formatMs(time)}`).join(", ");
  let x = 0;
  return (
    <svg class="stages" width={BAR_WIDTH} height={12} role="img" aria-label={text}>
      <title>{text}</title>
      {stages.map((time, at) => {
        const width = (time / total) * BAR_WIDTH;
        x += width;
        return <rect key={at} class={`stage-${at}`} x={x - width} y={0} width={width} height={12} />;
      })}
    </svg>
  );
}
