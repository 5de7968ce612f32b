/** Resources: text, bytes, a template, one that changes. */
import { Buffer } from "node:buffer";
import { PNG } from "./samples.mjs";

export function defineResources(server) {
  server.resource(
    "test://static-text",
    { name: "static-text", description: "Text that never changes.", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );

  server.resource(
    "test://static-binary",
    { name: "static-binary", description: "An image that never changes.", mimeType: "image/png" },
    () => Buffer.from(PNG, "base64"),
  );

  server.resource(
    "test://watched-resource",
    { name: "watched-resource", description: "Text that may change.", mimeType: "text/plain" },
    () => "Watched resource content",
  );

  server.resourceTemplate(
    "test://template/{id}/data",
    { name: "template", description: "Data by id.", mimeType: "application/json" },
    ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}
