import type { ModuleHub, ToolContext } from "toolyard";

enum Style {
  Iso = "iso",
  Human = "human",
}

export function registerTools(hub: ModuleHub): void {
  hub.registerTool(
    "clock.now",
    ({ zone, style }: { zone: string; style: Style }) => now(zone, style),
    {
      type: "object",
      properties: {
        zone: { type: "string", default: "UTC", description: "An IANA time zone, such as Asia/Tokyo" },
        style: {
          type: "string",
          enum: [Style.Iso, Style.Human],
          default: Style.Iso,
          description: "How to write the time",
        },
      },
    },
    "Returns the current date and time in a time zone",
    { keywords: ["date", "time", "today"] },
  );

  hub.registerTool(
    "clock.wait",
    async ({ seconds }: { seconds: number }, context: ToolContext) => {
      for (let second = 1; second <= seconds; second += 1) {
        await pause(1000, context.signal);
        context.progress(second, seconds, `${second} of ${seconds} seconds`);
      }
      return `Waited ${seconds} seconds.`;
    },
    { type: "object", properties: { seconds: { type: "integer", minimum: 1, maximum: 600 } }, required: ["seconds"] },
    "Waits some seconds and reports progress each second",
  );
}

function now(zone: string, style: Style): string {
  const time = new Date();
  if (style === Style.Human)
    return time.toLocaleString("en-GB", { timeZone: zone, dateStyle: "full", timeStyle: "long" });
  return `${time.toLocaleString("sv-SE", { timeZone: zone }).replace(" ", "T")} ${zone}`;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, gone) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      gone(signal.reason);
    });
  });
}
