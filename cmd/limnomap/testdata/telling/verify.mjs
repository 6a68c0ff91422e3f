// Verifies webhooks with the library of Standard Webhooks. The input is a JSON list of {secret, headers, body}; the output is what each body
// says, or an error.
import { Webhook } from "standardwebhooks";
import { text } from "node:stream/consumers";

const results = JSON.parse(await text(process.stdin)).map(({ secret, headers, body }) => {
  try {
    return { type: new Webhook(secret).verify(body, headers).type };
  } catch (error) {
    return { error: String(error.message) };
  }
});
console.log(JSON.stringify(results));
