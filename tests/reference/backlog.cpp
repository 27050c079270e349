// This program simulates First-Fit, Most Servers First and Adaptive Quickswap on Borg cell B, starting from an empty system
// or from a backlog. It prints the work over time and the mean response times, weighted by load. It does not share any
// code with synth. The results are in docs/explanation/quickswap.md.
//
//     g++ -O2 -o backlog tests/reference/backlog.cpp
//     ./backlog RULE FACTOR SEED WORK EVENTS < models/borg_cell_b.yaml
//
// RULE is ff, msf or aq, and FACTOR multiplies the arrival rates. WORK is the work of the backlog, as the time that all
// servers need for it, or 0. The jobs of the backlog are in proportion to their arrival rates. The time, the work and the
// current mean are printed forty times.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <random>
#include <string>
#include <vector>

int main(int count, char **typed) {
    if (count != 6) return 2;
    const bool first_fit = !strcmp(typed[1], "ff"), adaptive = !strcmp(typed[1], "aq");
    const double factor = atof(typed[2]), backlog = atof(typed[4]);
    const uint64_t events = static_cast<uint64_t>(atof(typed[5]));
    std::mt19937_64 random(atoll(typed[3]));
    std::vector<int> need;
    std::vector<double> lambda, mu;
    const int capacity = 2048;
    for (std::string line; getline(std::cin, line);) {
        if (line.find("- {name") == std::string::npos) continue;
        auto after = [&](const char *key) { return line.c_str() + line.find(key) + strlen(key); };
        need.push_back(atoi(after("servers: ")));
        lambda.push_back(factor * atof(after("arrival_rate: ")));
        mu.push_back(1 / atof(after("mean_size: ")));
    }
    const int types = need.size();
    double all = 0, load = 0;
    for (int i = 0; i < types; i++) all += lambda[i], load += lambda[i] / mu[i] * need[i] / capacity;
    std::discrete_distribution<int> kind(lambda.begin(), lambda.end());
    std::exponential_distribution<double> unit;
    // The numbers of the waiting jobs of each type, in the order of arrival, and the number of running jobs.
    std::vector<std::deque<uint64_t>> waiting(types);
    std::vector<uint64_t> running(types, 0);
    int free = capacity;
    bool draining = false;
    uint64_t came = 0;
    // The integrals of the numbers of jobs in the system, and the times up to which they are computed.
    std::vector<double> area(types, 0), since(types, 0);
    double now = 0;
    auto work = [&] {
        double sum = 0;
        for (int i = 0; i < types; i++) sum += (waiting[i].size() + running[i]) / mu[i] * need[i];
        return sum / capacity;
    };
    auto count_up_to_now = [&](int i) {
        area[i] += (waiting[i].size() + running[i]) * (now - since[i]), since[i] = now;
    };
    auto weighted = [&] {
        double sum = 0;
        for (int i = 0; i < types; i++) count_up_to_now(i), sum += area[i] / now / mu[i] * need[i];
        return sum / capacity / load;
    };
    auto start = [&](int i) { waiting[i].pop_front(), running[i]++, free -= need[i]; };
    auto start_all = [&] {
        for (;;) {
            int next = -1;
            for (int i = 0; i < types; i++) {
                if (need[i] > free || waiting[i].empty()) continue;
                // The types are sorted by their needs.
                if (next < 0 || !first_fit || waiting[i].front() < waiting[next].front()) next = i;
            }
            if (next < 0) return;
            start(next);
        }
    };
    auto fill = [&] {
        if (adaptive && draining) {
            int largest = types - 1;
            while (largest >= 0 && waiting[largest].empty()) largest--;
            if (largest < 0 || need[largest] > free) return;
            start(largest);
        }
        start_all();
        bool waits = false, goes_on = false;
        for (int i = 0; i < types; i++)
            if (!waiting[i].empty()) waits = true, goes_on = goes_on || running[i];
        draining = waits && !goes_on;
    };
    for (double jobs = backlog / load * all; came < jobs;) waiting[kind(random)].push_back(came), came++;
    fill();
    printf("load %.4f, time %.3g, work %.4g\n", load, now, work());
    for (uint64_t event = 1; event <= events; event++) {
        double ends = 0;
        for (int i = 0; i < types; i++) ends += running[i] * mu[i];
        now += unit(random) / (all + ends);
        double place = std::uniform_real_distribution<double>(0, all + ends)(random);
        if (place < all) {
            const int i = kind(random);
            count_up_to_now(i);
            waiting[i].push_back(came++);
            if (adaptive) fill();
            else if (waiting[i].size() == 1 && need[i] <= free) start(i);
        } else {
            int i = 0;
            for (place -= all; i + 1 < types && (place >= running[i] * mu[i] || !running[i]); i++) place -= running[i] * mu[i];
            if (!running[i]) continue;
            count_up_to_now(i);
            running[i]--, free += need[i];
            fill();
        }
        if (event % (events / 40) == 0) printf("time %.4g, work %.4g, mean %.4g\n", now, work(), weighted()), fflush(stdout);
    }
}
