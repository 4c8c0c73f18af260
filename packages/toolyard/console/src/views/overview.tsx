import type { Overview as OverviewData, SourceState } from "../../../src/features/console/api-types.ts";
import { useEffect } from "preact/hooks";
import { formatAge, formatBytes, formatMs, formatNumber, t } from "../i18n/texts.ts";
import { liveCalls } from "../live.ts";
import { href } from "../route.ts";
import { Bounded } from "../ui/bounded.tsx";
import { Card, Commands, Foreign, Pending, State } from "../ui/parts.tsx";
import { useData } from "../ui/use-data.ts";

const REFRESH_MS = 5000;

type AttentionKind = OverviewData["attention"][number]["kind"];

export function Overview() {
  const { data, error, reload } = useData<OverviewData>("overview", "sources", "tasks");
  const newest = liveCalls.value[0]?.number;
  useEffect(() => {
    const timer = setInterval(() => void reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [newest === undefined]);
  if (!data) return <Pending error={error} retry={reload} />;
  const { calls, attention, states, minutes } = data;
  return (
    <>
      {attention.length === 0 ? <p class="state ready">{t("healthy")}</p> : <AttentionList entries={attention} />}
      <div class="cards">
        <Card title={t("sources")}>
          <ul class="plain">
            {Object.entries(states).map(([state, count]) => (
              <li key={state}>
                <b>{formatNumber(count)}</b> <State state={state as SourceState} />
              </li>
            ))}
          </ul>
        </Card>
        <Card title={t("tools")}>
          <p class="figure">{formatNumber(data.tools)}</p>
          <p class="dim">
            {formatNumber(data.resources)} {t("resources")} · {formatNumber(data.prompts)} {t("prompts")}
          </p>
        </Card>
        <Card title={t("callsTotal")}>
          <p class="figure">{formatNumber(calls.calls)}</p>
          <p class="dim">
            {formatNumber(calls.errors)} {t("errorsTotal")}
          </p>
        </Card>
        <Card title={t("latency")}>
          <p class="figure">{formatMs(calls.p50)}</p>
          <p class="dim">
            {t("percentiles", { p50: formatMs(calls.p50), p95: formatMs(calls.p95), p99: formatMs(calls.p99) })}
          </p>
        </Card>
        <Card title={t("uptime")}>
          <p class="figure">{formatAge(data.uptimeSeconds)}</p>
          <p class="dim">
            {t("memory")} {formatBytes(data.memoryBytes)}
          </p>
        </Card>
      </div>
      <Card title={t("callsPerMinute")}>
        <Chart minutes={minutes} />
      </Card>
      <Commands lines={["toolyard status", "toolyard doctor"]} />
    </>
  );
}

/** Views in which the user solves a problem. @default the source */
const ATTENTION_VIEWS: Readonly<Partial<Record<AttentionKind, readonly string[]>>> = {
  sign_in: ["signIns"],
  changed_tool: ["approvals"],
  refused_configuration: ["settings"],
};

function AttentionList({ entries }: { readonly entries: OverviewData["attention"] }) {
  return (
    <section class="card attention">
      <h2>{t("attention")}</h2>
      <ul class="plain">
        <Bounded>
          {entries.map((entry) => (
            <AttentionLine key={`${entry.kind} ${entry.source} ${entry.text}`} entry={entry} />
          ))}
        </Bounded>
      </ul>
    </section>
  );
}

/** Returns the view in which the user solves a problem. */
function placeOf({ kind, source = "", task }: OverviewData["attention"][number]): readonly string[] {
  if (task !== undefined) return ["tasks", task];
  if (kind === "failed_schedule") return ["tasks", "schedule", source];
  return ATTENTION_VIEWS[kind] ?? ["sources", source];
}

function AttentionLine({ entry }: { readonly entry: OverviewData["attention"][number] }) {
  const { kind, source = "", text } = entry;
  const place = placeOf(entry);
  return (
    <li>
      <a href={href(...place)}>{t(`attention_${kind}`, { source })}</a> <Foreign text={text} />
    </li>
  );
}

const BAR = { width: 10, height: 100 };

function Chart({ minutes }: { readonly minutes: OverviewData["minutes"] }) {
  const most = Math.max(1, ...minutes.map(({ calls }) => calls));
  const total = (key: "calls" | "errors"): number => minutes.reduce((sum, one) => sum + one[key], 0);
  const text = t("chartText", {
    calls: total("calls"),
    errors: total("errors"),
    now: minutes.at(-1)?.calls ?? 0,
  });
  const scale = (count: number): number => (count / most) * BAR.height;
  return (
    <>
      <svg
        class="chart"
        role="img"
        aria-label={text}
        viewBox={`0 0 ${minutes.length * BAR.width} ${BAR.height}`}
        preserveAspectRatio="none"
      >
        {minutes.map(({ calls, errors }, at) => (
          <g key={at}>
            <rect class="bar" x={at * BAR.width} y={BAR.height - scale(calls)} width={8} height={scale(calls)} />
            <rect class="bar bad" x={at * BAR.width} y={BAR.height - scale(errors)} width={8} height={scale(errors)} />
          </g>
        ))}
      </svg>
      <p class="dim">{text}</p>
    </>
  );
}
