// A browser as the suite needs it: opens one address and follows where it is sent.
const response = await fetch(process.argv.at(-1));
await response.text();
