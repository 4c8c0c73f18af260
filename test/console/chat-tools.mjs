// Module with tools for the tests of the chat and of code in the console.
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function registerTools(hub) {
  const city = {
    type: "object",
    properties: {
      city: { type: "string", description: "Name of the <b>city</b>" },
      days: { type: "integer", description: "Number of days" },
    },
    required: ["city"],
  };
  hub.registerTool("weather.forecast", ({ city: name }) => `sunny in ${name}`, city, "Weather of a city");
  hub.registerTool(
    "weather.station",
    () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] }),
    { type: "object" },
    "Picture of the station",
  );
}
