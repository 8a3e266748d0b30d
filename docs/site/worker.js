// The theme searches in a worker, and browsers start none from a file.
// Of a page that was opened from a folder it runs in a frame that nobody sees.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const address = new URL(script, location.href).href.replaceAll('"', "%22");
      frame.srcdoc =
        "<script>self.postMessage = (data) => frameElement.answer(data)</script>" +
        `<script src="${address}"></script>`;
      this.frame = new Promise((started) => {
        frame.addEventListener("load", () => started(frame.contentWindow));
      });
      document.documentElement.append(frame);
    }

    async postMessage(data) {
      (await this.frame).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
